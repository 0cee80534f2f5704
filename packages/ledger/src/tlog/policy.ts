// C2SP tlog-policy: which logs an auditor trusts, and whose cosignatures are enough.
import { decodeUtf8, equalBytes } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { readVerifierKey, SIGNATURE_TYPES, unknownKeyMaterial } from '../note/key.ts'
import type { VerifierKey } from '../note/key.ts'

/** A group has witnessed what at least `threshold` of its members have. */
interface Group {
  readonly threshold: number
  readonly members: readonly string[]
}

export interface Policy {
  readonly logs: readonly VerifierKey[]
  /** By the name that groups and the quorum use. */
  readonly witnesses: ReadonlyMap<string, VerifierKey>
  readonly groups: ReadonlyMap<string, Group>
  /** Names of witnesses whose algorithm is not known here: as good as absent. Logs of such algorithms are left out. */
  readonly unusable: ReadonlySet<string>
  /** The name of a witness or group; null for `quorum none`. */
  readonly quorum: string | null
}

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly line: number; readonly message: string }

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/

/** Thrown by the readers of single lines and turned into an outcome by `parsePolicy`. */
class PolicyFault extends Error {}

interface PolicyBuilder {
  /** Takes the items of one line. Throws a PolicyFault. */
  line(items: readonly string[]): void
  /** Undefined while there was no quorum line. */
  policy(): Policy | undefined
}

/** Tells whether the algorithm of a key is not known here: its line says nothing, and is right all the same. */
function createUnknownKeys(): (text: string, what: string) => boolean {
  const materials = new Set<string>()
  return (text, what) => {
    const material = unknownKeyMaterial(text)
    if (material === undefined) return false
    if (materials.has(material)) throw new PolicyFault(`the key of this ${what} is listed twice`)
    materials.add(material)
    return true
  }
}

function createPolicyBuilder(): PolicyBuilder {
  const logs: VerifierKey[] = []
  const witnesses = new Map<string, VerifierKey>()
  const groups = new Map<string, Group>()
  const grouped = new Set<string>()
  const unusable = new Set<string>()
  const isUnknown = createUnknownKeys()
  let quorum: string | null | undefined

  const isNamed = (name: string): boolean =>
    witnesses.has(name) || groups.has(name) || unusable.has(name)

  function mustBeNew(name: string): void {
    if (name === 'none' || isNamed(name)) throw new PolicyFault('this name is taken')
  }

  function mustExist(name: string): void {
    if (!isNamed(name)) throw new PolicyFault('a name is used before its line')
  }

  const takers: Readonly<Record<string, (items: readonly string[]) => void>> = {
    log([text, , ...rest]) {
      if (text === undefined || rest.length > 0) throw new PolicyFault('log <vkey> [<url>]')
      if (isUnknown(text, 'log')) return
      const key = readKey(text, SIGNATURE_TYPES.ed25519, 'a log signs with key type 0x01')
      if (logs.some((other) => equalBytes(other.publicKey, key.publicKey))) {
        throw new PolicyFault('the key of this log is listed twice')
      }
      logs.push(key)
    },
    witness([name, text, , ...rest]) {
      if (name === undefined || text === undefined || rest.length > 0) {
        throw new PolicyFault('witness <name> <vkey> [<url>]')
      }
      mustBeNew(name)
      if (isUnknown(text, 'witness')) return void unusable.add(name)
      const key = readKey(text, SIGNATURE_TYPES.cosignature, 'a witness signs with key type 0x04')
      for (const other of witnesses.values()) {
        if (equalBytes(other.publicKey, key.publicKey)) {
          throw new PolicyFault('the key of this witness is listed twice')
        }
      }
      witnesses.set(name, key)
    },
    group([name, threshold, ...members]) {
      if (name === undefined || threshold === undefined || members.length === 0) {
        throw new PolicyFault('group <name> all|any|<k> <name>...')
      }
      mustBeNew(name)
      for (const member of members) {
        mustExist(member)
        if (grouped.has(member)) throw new PolicyFault('a name is a member of one group only')
        grouped.add(member)
      }
      groups.set(name, { threshold: readThreshold(threshold, members.length), members })
    },
    quorum([name, ...rest]) {
      if (name === undefined || rest.length > 0) throw new PolicyFault('quorum <name>')
      if (quorum !== undefined) throw new PolicyFault('there is exactly one quorum line')
      if (name !== 'none') mustExist(name)
      quorum = name === 'none' ? null : name
    },
  }

  return {
    line([keyword = '', ...rest]) {
      const take = Object.hasOwn(takers, keyword) ? takers[keyword] : undefined
      if (take === undefined) {
        throw new PolicyFault('a line starts with log, witness, group or quorum')
      }
      take(rest)
    },
    policy: () =>
      quorum === undefined ? undefined : { logs, witnesses, unusable, groups, quorum },
  }
}

function readKey(text: string, type: VerifierKey['type'], rule: string): VerifierKey {
  let key: VerifierKey
  try {
    key = readVerifierKey(text)
  } catch (error) {
    if (error instanceof LedgerError) throw new PolicyFault(error.message)
    throw error
  }
  if (key.type === type) return key
  throw new PolicyFault(rule)
}

function readThreshold(text: string, members: number): number {
  if (text === 'any') return 1
  if (text === 'all') return members
  const threshold = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0
  if (threshold >= 1 && threshold <= members) return threshold
  throw new PolicyFault('a threshold is all, any or a number from 1 to the number of members')
}

/** The lines of a policy file, each octet as one character: octets above 0x7F mean nothing to its syntax. */
export const policyLines = (bytes: Uint8Array): readonly string[] => {
  let text = ''
  for (const octet of bytes) text += String.fromCharCode(octet)
  return text.split('\n')
}

/** The items of a line, which is a character for each octet; those that are UTF-8 as what they say. */
export const policyItems = (line: string): readonly string[] =>
  line
    .split(/[ \t]+/)
    .filter((item) => item !== '')
    .map((item) => decodeUtf8(Uint8Array.from(item, (octet) => octet.charCodeAt(0))) ?? item)

/** Reads a policy file; the outcome names the first wrong line, counted from 1. */
export function parsePolicy(bytes: Uint8Array): ParsedPolicy {
  const builder = createPolicyBuilder()
  const lines = policyLines(bytes)
  for (const [at, text] of lines.entries()) {
    const items = policyItems(text)
    if (items.length === 0 || items[0]?.startsWith('#')) continue
    try {
      if (CONTROL.test(text)) throw new PolicyFault('the line holds a control character')
      builder.line(items)
    } catch (error) {
      if (!(error instanceof PolicyFault)) throw error
      return { ok: false, line: at + 1, message: error.message }
    }
  }
  const policy = builder.policy()
  if (policy !== undefined) return { ok: true, policy }
  return { ok: false, line: lines.length, message: 'there is exactly one quorum line' }
}

/** Whether the witnesses whose cosignatures verified make the quorum. */
export function meetsQuorum(policy: Policy, isWitnessed: (key: VerifierKey) => boolean): boolean {
  const has = (name: string): boolean => {
    const witness = policy.witnesses.get(name)
    if (witness !== undefined) return isWitnessed(witness)
    const group = policy.groups.get(name)
    return group !== undefined && group.members.filter(has).length >= group.threshold
  }
  return policy.quorum === null || has(policy.quorum)
}
