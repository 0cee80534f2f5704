// The exemptions that an installation's settings name: a file, signed by people whom this process knows. It is right in all of it, or none
// of it counts.
import { exemptionFault, exemptionId, fact, readExemptionSignature } from '@baton/ledger'
import type { ExemptionSignature, ExemptionTerms, OperationDetail, People } from '@baton/ledger'
import { createDocumentCheck, firstProblem } from '@baton/protocol/document-check'
import { permanent, readNamedFile } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import type { Exemption } from './decide/exemptions.ts'

/** How long one may hold, from its first signature on. */
const DAYS_MAX = 30
const DAY_MS = 86_400_000
const EXEMPTIONS_MAX = 32
export const EXEMPTIONS_BYTES_MAX = 1_048_576

/** A finding of the model is about one window of a message and says nothing of the others; what was not read is not exempted at all. */
const NEVER: ReadonlySet<string> = new Set(['model', 'SCAN_INCOMPLETE'])

/** An entry of the file, before anything of it is believed. */
export interface ExemptionEntry {
  readonly from: string
  readonly to: string
  readonly rule: string
  readonly pointer: string
  readonly below: boolean
  readonly tenant?: string
  readonly until: string
  readonly reason: string
  readonly signatures: readonly string[]
}

const line = (maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
})

const check = createDocumentCheck<{ readonly exemptions: readonly ExemptionEntry[] }>({
  type: 'object',
  properties: {
    exemptions: {
      type: 'array',
      maxItems: EXEMPTIONS_MAX,
      items: {
        type: 'object',
        properties: {
          from: line(256),
          to: line(256),
          rule: line(64),
          // Never the whole message.
          pointer: {
            ...line(1_024),
            pattern: '^(?:/(?:[^/~\\u0000-\\u001f\\u007f-\\u009f]|~[01])+)+$',
          },
          below: { type: 'boolean', default: false },
          tenant: { type: 'string', pattern: '^[a-z][a-z0-9-]{0,30}$' },
          until: { type: 'string', format: 'date-time', pattern: '^.{19}\\.[0-9]{3}Z$' },
          reason: line(500),
          signatures: { type: 'array', items: { type: 'string', maxLength: 256 }, maxItems: 8 },
        },
        required: ['from', 'to', 'rule', 'pointer', 'until', 'reason', 'signatures'],
        additionalProperties: false,
      },
    },
  },
  required: ['exemptions'],
  additionalProperties: false,
})

export const termsOf = (entry: ExemptionEntry): ExemptionTerms => ({
  from: entry.from,
  to: entry.to,
  rule: entry.rule,
  pointer: entry.pointer,
  below: entry.below,
  tenant: entry.tenant ?? null,
  until: entry.until,
  reason: entry.reason,
})

/** What is wrong with the end of one that was first signed then; undefined where nothing is. */
export const endFault = ({ until }: ExemptionTerms, firstMs: number): string | undefined =>
  Date.parse(until) - firstMs > DAYS_MAX * DAY_MS
    ? `it holds for more than ${DAYS_MAX} days`
    : undefined

/** The entries as they stand there, whoever signed them. Throws BATON_EXEMPTIONS_INVALID. */
export const readExemptionEntries = (path: string): readonly ExemptionEntry[] =>
  entriesIn(readBytes(path), path)

const readBytes = (path: string): Uint8Array =>
  readNamedFile(path, (problem) => invalidExemptions(path, problem))

function entriesIn(bytes: Uint8Array, path: string): readonly ExemptionEntry[] {
  const read = check(bytes)
  if (!read.ok) throw invalidExemptions(path, firstProblem(read.details))
  const { exemptions } = read.document
  const never = exemptions.findIndex(({ rule }) => NEVER.has(rule))
  if (never >= 0)
    throw invalidExemptions(path, `/exemptions/${never}/rule: nobody is exempted from it`)
  const ids = exemptions.map((entry) => exemptionId(termsOf(entry)))
  const again = ids.findIndex((id, index) => ids.indexOf(id) < index)
  if (again >= 0) throw invalidExemptions(path, `/exemptions/${again}: it stands there twice`)
  return exemptions
}

/** None where no file is named. Throws BATON_EXEMPTIONS_INVALID, also where a signature does not count. */
export const openExemptions = (path: string | undefined, people: People): readonly Exemption[] =>
  path === undefined ? [] : exemptionsIn(readBytes(path), path, people)

/** Those of the file's bytes. Throws BATON_EXEMPTIONS_INVALID, also where a signature does not count. */
export function exemptionsIn(
  bytes: Uint8Array,
  path: string,
  people: People,
): readonly Exemption[] {
  return entriesIn(bytes, path).map((entry, index) => {
    const place = `/exemptions/${index}`
    const terms = termsOf(entry)
    const signed = entry.signatures.map((text, nth) => {
      const signature = readExemptionSignature(text)
      const fault = signature === undefined ? 'signature' : exemptionFault(terms, signature, people)
      if (signature === undefined || fault !== undefined)
        throw invalidExemptions(path, `${place}/signatures/${nth}: it does not count (${fault})`)
      return signatureOf(signature, people)
    })
    const firstMs = Math.min(...signed.map(({ signedAt }) => Date.parse(signedAt)))
    if (signed.length === 0)
      throw invalidExemptions(path, `${place}/signatures: nobody has signed it`)
    const fault = endFault(terms, firstMs)
    if (fault !== undefined) throw invalidExemptions(path, `${place}/until: ${fault}`)
    return { ...terms, id: exemptionId(terms), signed }
  })
}

const signatureOf = ({ keyId, signedAt }: ExemptionSignature, people: People) => ({
  person: people.get(keyId)?.person ?? '',
  keyId,
  signedAt,
})

/**
 * What the record of a set says of it: the digest of the file, by which it is known again, and of each its name, end and who signed, and its
 * terms where there is room. Its name is a digest of all of its terms.
 */
export const exemptionFacts = (
  exemptions: readonly Exemption[],
  sha256: string,
): readonly OperationDetail[] => [
  { code: 'EXEMPTIONS', value: String(exemptions.length), sha256 },
  ...exemptions.map(exemptionFact),
]

function exemptionFact(exemption: Exemption): OperationDetail {
  const { id, from, to, rule, pointer, below, tenant, until, signed } = exemption
  const by = signed.map(({ person, keyId }) => `${person}(${keyId})`).join('+')
  const terms = `${from}>${to}:${rule}:${below ? `${pointer}/**` : pointer}:${tenant ?? '-'}`
  const short = `${id}:${until}:${by}`
  const whole = fact('EXEMPTION', `${short}:${terms}`)
  return whole.value === null ? fact('EXEMPTION', short) : whole
}

export const invalidExemptions = (path: string, problem: string): BatonError =>
  permanent('BATON_EXEMPTIONS_INVALID', `BATON_EXEMPTIONS, ${path}: ${problem}`, {
    fix: 'Correct the file, or take that exemption out; infra/safety.md shows one, and `baton safety sign` signs it.',
  })
