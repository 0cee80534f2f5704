// People of a test: each with a key of their own, whose decisions count wherever `setting` or `people` is given.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import {
  actIdOf,
  formatSigned,
  isDecision,
  parseNeeded,
  parsePeople,
  personEntry,
  personKeyId,
  recorded,
  ROLES,
  signDecision,
} from '@baton/ledger'
import type { AuditEntry, Decision, DecisionSignature, People } from '@baton/ledger'

export interface TestPeople {
  /** For BATON_PEOPLE. */
  readonly setting: string
  readonly people: People
  /** A person's private key, for BATON_PERSON_KEY. */
  secretOf(name: string): string
  /** What the person of the decision signs, as of now by default. Throws for somebody who is not among them. */
  sign(decision: Decision, at?: Date): DecisionSignature
  /** The same for what a refusal's header Baton-Decision-Needed names, as the header Baton-Decision. */
  answer(needed: string): string
}

/** Everybody is a reviewer and has the say in compliance. */
export function createTestPeople(names: readonly string[]): TestPeople {
  const keys = new Map(names.map((name) => [name, newKey()]))
  const setting = [...keys]
    .map(([name, { publicKey }]) => personEntry(name, ROLES, publicKey))
    .join(',')
  const keyOf = (name: string): TestKey => {
    const key = keys.get(name)
    if (key === undefined) throw new Error(`nobody here is called ${name}`)
    return key
  }
  const sign = (decision: Decision, at: Date = new Date()): DecisionSignature =>
    signDecision(decision, keyOf(decision.person), at)
  return {
    setting,
    people: parsePeople(setting),
    secretOf: (name) =>
      keyOf(name).privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    sign,
    answer(needed) {
      const decision = parseNeeded(needed)
      if (decision === undefined) throw new Error(`nothing is to be signed by ${needed}`)
      return formatSigned(sign(decision))
    },
  }
}

/** The people of every test system; each may use the API keys of their own name. */
export const PEOPLE = createTestPeople([
  'ann',
  'acme/ann',
  'acme/bob',
  'bob',
  'carl',
  'counsel',
  'eve',
  'driver',
  'operator',
  'reviewer-1',
  'reviewer-2',
])

/** The header with which an answer's refusal becomes a decision; none where no signature was asked for. */
export function signedHeader(
  { status, headers }: { readonly status: number; readonly headers: Headers },
  { answer }: TestPeople = PEOPLE,
): Readonly<Record<string, string>> {
  const needed = headers.get('baton-decision-needed')
  return status === 403 && needed !== null ? { 'baton-decision': answer(needed) } : {}
}

/** The act of a person, as an entry about their decision must have it. */
export function signedAct(
  { event, taskId, handoffId }: Pick<AuditEntry, 'event' | 'taskId' | 'handoffId'>,
  person: string,
  { sign }: Pick<TestPeople, 'sign'> = PEOPLE,
): NonNullable<AuditEntry['act']> {
  if (!isDecision(event)) throw new Error(`${event} takes nobody's signature`)
  const signed = sign({ event, taskId, handoffId, person, decided: randomUUID() })
  return { id: actIdOf(signed), actor: person, signed: recorded(signed) }
}

/** As `fetch`; where the answer is that the person behind the key must sign, they sign, and it is asked again. */
export async function fetchSigned(url: string | URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  const signed = signedHeader(response)
  if (Object.keys(signed).length === 0) return response
  await response.body?.cancel()
  const headers = { ...(init.headers as object), ...signed }
  const body = withNeededId(init.body, response.headers.get('baton-decision-needed') ?? '')
  return fetch(url, { ...init, ...(body === undefined ? {} : { body }), headers })
}

/** A plan that names no id is sent again with the one that is to be signed. */
function withNeededId(body: RequestInit['body'], needed: string): RequestInit['body'] {
  const { event, taskId } = parseNeeded(needed) ?? {}
  if (event !== 'ERASURE_REQUESTED' || typeof body !== 'string') return body
  const sent = JSON.parse(body) as { readonly id?: string }
  return sent.id === undefined ? JSON.stringify({ erasureId: taskId, ...sent }) : body
}

interface TestKey {
  readonly keyId: string
  readonly publicKey: Uint8Array
  readonly privateKey: KeyObject
}

function newKey(): TestKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
  return { keyId: personKeyId(raw), publicKey: raw, privateKey }
}
