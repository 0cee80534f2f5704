// `people`: whose decisions count here, and a signing key for one more. A private key is shown once and kept nowhere.
import { generateKeyPairSync } from 'node:crypto'
import {
  formatSigned,
  OPERATOR,
  parseNeeded,
  parsePeople,
  personEntry,
  readDecisionSigner,
  signDecision,
} from '@baton/ledger'
import type { Role } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { KEY_MISSING } from '../decide-signed.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { readPersonKey } from '../instance/person-key.ts'
import { readPerson, readStored } from '../instance/secrets.ts'
import { knownPeople } from '../instance/known-people.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { pageOfAll, sayShown, typedAgain } from './list-pages.ts'
import type { PageFlags } from './list-pages.ts'

/** By BATON_PEOPLE, or else the people of this home. */
export async function listPeople(context: Context, flags: PageFlags): Promise<ExitCode> {
  const { output } = context
  const all = [...(await knownPeople(context))].map(([keyId, key]) => ({
    person: key.person,
    roles: [...key.roles],
    keyId,
    until: key.untilMs === undefined ? null : new Date(key.untilMs).toISOString().slice(0, 10),
  }))
  // One person may have several keys.
  const listed = pageOfAll(all, { keyOf: ({ person, keyId }) => `${person} ${keyId}`, flags })
  const people = listed.rows
  if (output.json) output.data(JSON.stringify(people))
  else if (people.length > 0) output.data(table(people))
  if (all.length === 0) output.words('Nobody’s decisions count here.')
  sayShown(output, listed, `people ls${typedAgain({ limit: flags.limit })}`)
  output.next(nextStep('people key <name> --role reviewer'))
  return EXIT.fine
}

interface Listed {
  readonly person: string
  readonly roles: readonly string[]
  readonly keyId: string
  readonly until: string | null
}

const table = (people: readonly Listed[]): string =>
  renderTable(
    [{ title: 'PERSON' }, { title: 'ROLES' }, { title: 'KEY' }, { title: 'COUNTS UNTIL (UTC)' }],
    people.map(({ person, roles, keyId, until }) => [person, roles.join(', '), keyId, until ?? '']),
  )

interface NewKey {
  readonly person: string
  readonly roles: readonly Role[]
}

/** Makes a key pair: the private half for the person, the entry for everybody who checks. */
export function makePersonKey({ output }: Context, { person, roles }: NewKey): ExitCode {
  if (!NAME.test(person)) throw NO_NAME
  const { privateKey } = generateKeyPairSync('ed25519')
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const { keyId, publicKey } = readDecisionSigner(secret)
  const entry = personEntry(person, roles, publicKey)
  parsePeople(entry)
  if (output.json) output.data(JSON.stringify({ person, roles, keyId, privateKey: secret, entry }))
  else output.data(`BATON_PERSON_KEY=${secret}`)
  output.words(`The line above is ${person}’s alone and is kept nowhere else.`)
  output.words(
    `Whoever checks decisions (gateway, receiver, auditor) gets, in BATON_PEOPLE:\n  ${entry}`,
  )
  output.next(
    `${person}’s API key needs ${operatorOptions(person)}, so that key and signature are one person`,
  )
  return EXIT.fine
}

const NAME = new RegExp(`^${OPERATOR}$`)

const NO_NAME = permanent('BATON_USAGE', 'the name has other characters than a name may have', {
  fix: 'Take letters from A to Z, digits, dots, dashes and underscores, at most 64, the first of them a letter or a digit; a person of a tenant is acme/ann.',
})

// The operator of a tenant's key is named without its tenant, which stands beside it: `acme/ann` is ann of acme.
function operatorOptions(person: string): string {
  const [tenant, name] = person.split('/')
  return name === undefined ? `--operator ${person}` : `--operator ${name} --tenant ${tenant}`
}

/** Signs what a refusal's Baton-Decision-Needed names, for a client that cannot: prints the Baton-Decision header. */
export async function signNeeded(context: Context, needed: string): Promise<ExitCode> {
  const { output, settings, home, actAs = 'operator' } = context
  const decision = parseNeeded(needed.trim())
  if (decision === undefined) throw NOTHING_NEEDED
  const own = (await readStored(home, 'signing'))?.[readPerson(actAs)]
  const key = settings.BATON_PERSON_KEY ?? own
  if (key === undefined) throw KEY_MISSING
  const signed = formatSigned(
    signDecision(decision, readPersonKey(key, decision.person), new Date()),
  )
  output.data(output.json ? JSON.stringify({ ...decision, header: signed }) : signed)
  const about = decision.handoffId ?? `task ${decision.taskId}`
  output.words(`Signed as ${decision.person}: ${decision.event} of ${about}.`)
  output.next('send it again with the header Baton-Decision: and this line')
  return EXIT.fine
}

const NOTHING_NEEDED = permanent('BATON_USAGE', 'that is not what Baton-Decision-Needed says', {
  fix: 'Give the whole value of that header, in quotes: event, task, handoff, person and digest.',
})
