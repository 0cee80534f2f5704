// The auditor's trust roots: a C2SP policy whose comments may also name the keys of Baton's services.
import { batchKeyIdOf } from '../batch-statement.ts'
import { equalBytes } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { personKeyId, readPersonEntry } from '../people.ts'
import type { People, PersonKey } from '../people.ts'
import { formatVerifierKey, readVerifierKey, SIGNATURE_TYPES } from '../note/key.ts'
import type { VerifierKey } from '../note/key.ts'
import { readDecimal } from '../tlog/checkpoint.ts'
import { parsePolicy, policyItems, policyLines } from '../tlog/policy.ts'
import type { Policy } from '../tlog/policy.ts'

/** Comes from a file of the auditor's, never from what is verified. */
export interface AuditorPolicy {
  readonly log: Policy
  /** Public keys of append services, by the key id of batch signatures. */
  readonly batchKeys: ReadonlyMap<string, Uint8Array>
  /** Keys of a log that were handed over, and the largest tree that each of them signed. */
  readonly retired: readonly RetiredKey[]
  /** Whose decisions count. */
  readonly people: People
  /** Keys that sign manifests; empty when the auditor does not ask for that signature. */
  readonly exporters: readonly VerifierKey[]
}

export interface RetiredKey {
  readonly key: VerifierKey
  /** Entries of the seal log, with the one that handed it over. */
  readonly seals: number
}

export type ParsedAuditorPolicy =
  | { readonly ok: true; readonly policy: AuditorPolicy }
  | { readonly ok: false; readonly line: number; readonly message: string }

/** Whatever follows: a line that means people is never taken for a comment. */
const PERSON_BEGINS = /^[ \t]*#[ \t]*baton-person/
const PERSON = /^[ \t]*#[ \t]*baton-person[ \t]+([^ \t]+)[ \t]*$/
const DIRECTIVE = /^[ \t]*#[ \t]*baton-key\b(.*)$/

/**
 * Reads a policy file. Beside the lines of C2SP tlog-policy, which other tools read too, it takes
 * `# baton-person <entry of BATON_PEOPLE>`, `# baton-key batch <vkey>`, `# baton-key exporter <vkey>` and `# baton-key retired <vkey> <seals>`; the
 * first wrong line is named. Of two logs of one name nobody could say which key was in force.
 */
export function parseAuditorPolicy(bytes: Uint8Array): ParsedAuditorPolicy {
  const parsed = parsePolicy(bytes)
  if (!parsed.ok) return parsed
  const batchKeys = new Map<string, Uint8Array>()
  const exporters: VerifierKey[] = []
  const people = new Map<string, PersonKey>()
  const retired: RetiredKey[] = []
  const { logs } = parsed.policy
  for (const [at, line] of policyLines(bytes).entries()) {
    if (PERSON_BEGINS.test(line) && !addPerson(people, PERSON.exec(line)?.[1] ?? ''))
      return { ok: false, line: at + 1, message: PERSON_FORM }
    const directive = DIRECTIVE.exec(line)?.[1]
    if (directive === undefined) continue
    const read = readDirective(directive)
    if (read === undefined) return { ok: false, line: at + 1, message: DIRECTIVE_FORM }
    const { role, key, seals } = read
    if (role === 'batch') batchKeys.set(batchKeyIdOf(key.publicKey), key.publicKey)
    else if (role === 'exporter') exporters.push(key)
    else if (isListed(key, [...logs, ...retired.map((one) => one.key)])) {
      return { ok: false, line: at + 1, message: 'this key of a log is listed twice' }
    } else retired.push({ key, seals })
  }
  const line = secondOfOneName(bytes, logs)
  if (line !== undefined) return { ok: false, line, message: ONE_KEY }
  return { ok: true, policy: { log: parsed.policy, batchKeys, retired, people, exporters } }
}

const DIRECTIVE_FORM = '# baton-key batch|exporter <vkey of type 0x01>, or retired <vkey> <seals>'
const ONE_KEY =
  'two keys of one log: name the one in force, and the others as # baton-key retired <vkey> <seals>'

const PERSON_FORM = '# baton-person <one entry of BATON_PEOPLE, each key once>'

/** False where it is no entry, or of a key that stands there already. */
function addPerson(people: Map<string, PersonKey>, entry: string): boolean {
  const key = readPersonEntry(entry)
  if (typeof key === 'string') return false
  const keyId = personKeyId(key.publicKey)
  if (people.has(keyId)) return false
  people.set(keyId, key)
  return true
}

function secondOfOneName(bytes: Uint8Array, logs: readonly VerifierKey[]): number | undefined {
  const seen = new Set<string>()
  for (const [at, line] of policyLines(bytes).entries()) {
    const [keyword, vkey = ''] = policyItems(line)
    const name = logs.find((key) => keyword === 'log' && formatVerifierKey(key) === vkey)?.name
    if (name !== undefined && seen.has(name)) return at + 1
    if (name !== undefined) seen.add(name)
  }
  return undefined
}

const isListed = ({ publicKey }: VerifierKey, keys: readonly VerifierKey[]): boolean =>
  keys.some((other) => equalBytes(other.publicKey, publicKey))

interface Directive {
  readonly role: 'batch' | 'exporter' | 'retired'
  readonly key: VerifierKey
  /** Zero but for a key that was handed over. */
  readonly seals: number
}

function readDirective(text: string): Directive | undefined {
  const [role = '', vkey = '', ...rest] = policyItems(text)
  const [size = '', ...more] = role === 'retired' ? rest : ['0', ...rest]
  const seals = readDecimal(size)
  if (!isRole(role) || seals === undefined || more.length > 0) return undefined
  try {
    const key = readVerifierKey(vkey)
    return key.type === SIGNATURE_TYPES.ed25519 ? { role, key, seals } : undefined
  } catch (error) {
    if (error instanceof LedgerError) return undefined
    throw error
  }
}

const isRole = (text: string): text is Directive['role'] =>
  ['batch', 'exporter', 'retired'].includes(text)
