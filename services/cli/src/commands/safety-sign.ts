// `safety sign`: puts one person's signature under the exemptions of a file, and shows what is signed. It prints the file anew and writes none.
import { endFault, readExemptionEntries, termsOf } from '@baton/engine'
import type { ExemptionEntry } from '@baton/engine'
import { exemptionFault, exemptionId, readExemptionSignature, signExemption } from '@baton/ledger'
import type { DecisionSigner, ExemptionTerms, People } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { RULE_IDS } from '@baton/safety'
import type { Context } from '../context.ts'
import { KEY_MISSING } from '../decide-signed.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { readPersonKey } from '../instance/person-key.ts'
import { readPerson, readStored } from '../instance/secrets.ts'
import { knownPeople } from '../instance/known-people.ts'

/** Throws BATON_EXEMPTIONS_INVALID for a file that is none, BATON_USAGE where the signature would not count. */
export async function safetySign(context: Context, path: string): Promise<ExitCode> {
  const { output } = context
  const signing = await readSigning(context)
  const exemptions = readExemptionEntries(path).map((entry, index) => {
    if (isSigned(entry, signing)) return entry
    const terms = termsOf(entry)
    const fault = futileFault(entry, Date.now())
    if (fault !== undefined) throw futile(`${path}: /exemptions/${index}${fault}`)
    output.words(`Signed as ${signing.person}: ${wordsFor(terms)}`)
    return { ...entry, signatures: [...entry.signatures, signatureUnder(terms, signing)] }
  })
  output.data(JSON.stringify({ exemptions }, null, 2))
  output.next(
    'replace the file that BATON_EXEMPTIONS of receivers and gateways names, by one rename; where it names none, set it and restart them',
  )
  return EXIT.fine
}

interface Signing {
  readonly person: string
  readonly people: People
  readonly signer: DecisionSigner
}

async function readSigning(context: Context): Promise<Signing> {
  const { settings, home, actAs = 'operator' } = context
  const key = settings.BATON_PERSON_KEY ?? (await readStored(home, 'signing'))?.[readPerson(actAs)]
  if (key === undefined) throw KEY_MISSING
  const people = await knownPeople(context)
  const signer = readPersonKey(key, actAs)
  const person = people.get(signer.keyId)?.person
  if (person === undefined) throw UNKNOWN
  return { person, people, signer }
}

const UNKNOWN = permanent('BATON_USAGE', 'nobody in BATON_PEOPLE has the key that is to sign', {
  fix: 'Put the entry of `baton people key` into BATON_PEOPLE first, here and wherever handoffs are judged.',
})

const isSigned = ({ signatures }: ExemptionEntry, { signer, people }: Signing): boolean => {
  const own = people.get(signer.keyId)?.person
  return signatures.some((line) => people.get(line.slice(0, 16))?.person === own)
}

/** Why it would take nothing out of any verdict, or keep a process from starting, whoever signs it. */
function futileFault(entry: ExemptionEntry, nowMs: number): string | undefined {
  const { rule, until, signatures } = entry
  if (!RULE_IDS.includes(rule)) return `/rule: ${rule} is no rule of this scanner`
  if (Date.parse(until) <= nowMs) return `/until: it ended at ${until}`
  const times = signatures.map((text) => Date.parse(readExemptionSignature(text)?.signedAt ?? ''))
  const firstMs = Math.min(nowMs, ...times.filter((time) => !Number.isNaN(time)))
  const fault = endFault(termsOf(entry), firstMs)
  return fault && `/until: ${fault}`
}

const futile = (problem: string) =>
  permanent('BATON_USAGE', `${problem}; nothing was signed`, {
    fix: 'Correct that exemption, or take it out: `baton safety explain RULE` knows each rule, and infra/safety.md shows one.',
  })

function signatureUnder(terms: ExemptionTerms, { person, people, signer }: Signing): string {
  const line = signExemption(terms, person, { signer, now: new Date() })
  const signature = readExemptionSignature(line)
  const fault = signature && exemptionFault(terms, signature, people)
  if (fault === undefined) return line
  throw permanent('BATON_USAGE', `the signature of ${person} would not count (${fault})`, {
    fix: 'Exemptions are signed by reviewers whose key has not ended, and by those of a tenant for that tenant alone.',
  })
}

function wordsFor(terms: ExemptionTerms): string {
  const { from, to, rule, pointer, below, tenant, until, reason } = terms
  const place = below ? `everything below ${pointer}` : pointer
  const whose = tenant === null ? 'every tenant' : `tenant ${tenant}`
  return `${exemptionId(terms)}: ${rule} counts for nothing in ${place} of what ${from} sends to ${to}, for ${whose}, until ${until}: ${reason}`
}
