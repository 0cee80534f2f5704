// The file of session peers: who they are, where they answer, and what they may do. Read strictly: a mistyped member would do nothing.
import { pointerTo } from '../../json.ts'
import type { JsonValue } from '../../json.ts'
import { parseMessage } from '../../parse-message.ts'
import { membersOf, reading, refuse, required } from './read-members.ts'
import type { Members, Read } from './read-members.ts'

export interface SessionPeer {
  readonly name: string
  /** SHA-256 of the bearer that it sends, in hexadecimal; without one it cannot call here. */
  readonly inboundSha256: string | null
  /** With whose API keys or access tokens it calls instead; `acme/hermes` is of the tenant acme, and so is the peer. */
  readonly operator: string | null
  /** The agent type that gets what it dispatches; without one it dispatches nothing. */
  readonly sendsTo: string | null
  /** The agent type whose work it does; without one it is given none. */
  readonly worksAs: string | null
  /** The agent type that the next steps of its work go on to; without one they only stand in its result. */
  readonly nextStepsTo: string | null
  /** Its `/jsonrpc`; without one nothing is sent to it. */
  readonly url: string | null
  /** Where the token for calling it stands. */
  readonly tokenFile: string | null
  readonly tokenEnv: string | null
  /** Its address may be loopback or private. */
  readonly allowPrivate: boolean
  /** What it has, where it announces nothing. */
  readonly mcp: readonly string[]
  readonly capabilities: readonly string[]
  /** Contexts that it may have under way here, and tasks that it is given at once. */
  readonly contextsMax: number
  readonly tasksMax: number
  /** How long an answer to it waits for the outcome of its task; null for as long as for others. */
  readonly waitMs: number | null
  /** How long it may work on a task. */
  readonly workMs: number
  /** By which part its report of spent tokens may be below what was counted. */
  readonly tokenTolerance: number
}

const PEERS_MAX = 1_000
const AT_ONCE = 3
const AT_ONCE_MAX = 1_000
const WORK_MS = 900_000
const WORK_MS_MAX = 86_400_000
const WAIT_MS_MAX = 60_000
const TOLERANCE = 0.2

const MEMBERS = new Set([
  'name',
  'inboundSha256',
  'operator',
  'sendsTo',
  'worksAs',
  'nextStepsTo',
  'url',
  'tokenFile',
  'tokenEnv',
  'allowPrivate',
  'mcp',
  'capabilities',
  'limits',
])
const LIMITS = new Set(['contextsMax', 'tasksMax', 'waitMs', 'workMs', 'tokenTolerance'])

/** Reads `{ "peers": [{ "name", ... }] }`. */
export function readPeers(bytes: Uint8Array): Read<readonly SessionPeer[]> {
  const parsed = parseMessage(bytes)
  if (!parsed.ok) {
    const [detail] = parsed.details
    return {
      ok: false,
      pointer: detail?.pointer ?? '',
      problem: detail?.message ?? 'this is no JSON',
      fix: 'Write one strict JSON value.',
    }
  }
  return reading(() => readAll(parsed.value))
}

function readAll(file: JsonValue): readonly SessionPeer[] {
  const members = membersOf(file)
  refuseUnknown(members, new Set(['peers']), '')
  const list = members.value('peers')
  if (!Array.isArray(list) || list.length > PEERS_MAX)
    refuse('/peers', `expected a list of at most ${PEERS_MAX} peers`, 'Write "peers": [ ... ].')
  const peers = (list as readonly JsonValue[]).map((one, index) => readPeer(one, `/peers/${index}`))
  for (const [index, peer] of peers.entries()) refuseTwins(peers.slice(0, index), peer, index)
  return peers
}

function refuseTwins(before: readonly SessionPeer[], peer: SessionPeer, index: number): void {
  if (before.some(({ name }) => name === peer.name))
    refuse(`/peers/${index}/name`, 'another peer has this name', 'Give each its own name.')
  const { inboundSha256: digest } = peer
  if (digest !== null && before.some(({ inboundSha256 }) => inboundSha256 === digest))
    refuse(
      `/peers/${index}/inboundSha256`,
      'another peer has this token',
      'Make a token of its own.',
    )
  const { operator } = peer
  if (operator !== null && before.some((one) => one.operator === operator))
    refuse(
      `/peers/${index}/operator`,
      'another peer has this operator',
      'Give it an operator, and keys, of its own.',
    )
}

function refuseUnknown({ all }: Members, known: ReadonlySet<string>, pointer: string): void {
  const other = Object.keys(all).find((name) => !known.has(name))
  if (other !== undefined)
    refuse(
      pointerTo(pointer, other),
      `there is no such member; known are ${[...known].join(', ')}`,
      'Leave it out, or correct its name.',
    )
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const DIGEST = /^[0-9a-f]{64}$/
const OPERATOR = /^(?:(?<tenant>[a-z][a-z0-9-]{0,30})\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Whose a peer is; undefined is the default tenant. */
export const tenantOfPeer = ({ operator }: Pick<SessionPeer, 'operator'>): string | undefined =>
  OPERATOR.exec(operator ?? '')?.groups?.['tenant']

function readPeer(value: JsonValue, pointer: string): SessionPeer {
  const members = membersOf(value, pointer)
  refuseUnknown(members, MEMBERS, pointer)
  const name = required(members.name('name'), `${pointer}/name`)
  if (!NAME.test(name))
    refuse(`${pointer}/name`, 'expected letters, digits, dot, dash', 'Choose another name.')
  const inboundSha256 = members.name('inboundSha256')
  if (inboundSha256 !== null && !DIGEST.test(inboundSha256))
    refuse(`${pointer}/inboundSha256`, 'expected 64 hexadecimal digits', 'Write: sha256sum.')
  const peer = {
    name,
    inboundSha256,
    operator: members.name('operator'),
    sendsTo: members.name('sendsTo'),
    worksAs: members.name('worksAs'),
    nextStepsTo: members.name('nextStepsTo'),
    url: readUrl(members.name('url'), `${pointer}/url`),
    tokenFile: members.text('tokenFile', 4_096),
    tokenEnv: members.name('tokenEnv'),
    allowPrivate: members.flag('allowPrivate') ?? false,
    mcp: members.names('mcp'),
    capabilities: members.names('capabilities'),
    ...readLimits(members.object('limits'), `${pointer}/limits`),
  }
  if (peer.worksAs !== null && peer.url === null)
    refuse(`${pointer}/url`, 'is required where it works', 'Add the address of its /jsonrpc.')
  if (peer.nextStepsTo !== null && peer.worksAs === null)
    refuse(`${pointer}/nextStepsTo`, 'needs worksAs', 'Say whose work it does, or leave it out.')
  refuseForeign(peer, pointer)
  if (peer.tokenFile !== null && peer.tokenEnv !== null)
    refuse(`${pointer}/tokenEnv`, 'its token stands in two places', 'Keep tokenFile or tokenEnv.')
  return peer
}

/** Whoever calls with keys of an operator is of its tenant, in all that it does. */
function refuseForeign(peer: SessionPeer, pointer: string): void {
  const { inboundSha256, operator, worksAs } = peer
  if (operator === null) return
  if (!OPERATOR.test(operator))
    refuse(`${pointer}/operator`, 'expected an operator', 'Write ann, or acme/ann of a tenant.')
  if (inboundSha256 !== null)
    refuse(`${pointer}/operator`, 'it has a token already', 'Keep inboundSha256 or operator.')
  const tenant = tenantOfPeer(peer)
  if (tenant !== undefined && worksAs?.startsWith(`${tenant}/`) === false)
    refuse(
      `${pointer}/worksAs`,
      'is no agent type of its tenant',
      `Write ${tenant}/NAME: nobody works as an agent of another.`,
    )
}

function readUrl(text: string | null, pointer: string): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isRight =
    (url?.protocol === 'http:' || url?.protocol === 'https:') &&
    url.username === '' &&
    url.password === ''
  if (!isRight)
    refuse(pointer, 'expected an http or https address', 'Write https://worker.example/jsonrpc.')
  return text
}

function readLimits(limits: Members, pointer: string) {
  refuseUnknown(limits, LIMITS, pointer)
  return {
    contextsMax: within(limits, 'contextsMax', { at: pointer, max: AT_ONCE_MAX }) ?? AT_ONCE,
    tasksMax: within(limits, 'tasksMax', { at: pointer, max: AT_ONCE_MAX }) ?? AT_ONCE,
    waitMs: within(limits, 'waitMs', { at: pointer, max: WAIT_MS_MAX }),
    workMs: within(limits, 'workMs', { at: pointer, max: WORK_MS_MAX }) ?? WORK_MS,
    tokenTolerance: readTolerance(limits.value('tokenTolerance'), `${pointer}/tokenTolerance`),
  }
}

function within(
  limits: Members,
  name: string,
  { at, max }: { readonly at: string; readonly max: number },
): number | null {
  const count = limits.count(name)
  if (count !== null && (count < 1 || count > max))
    refuse(`${at}/${name}`, `expected 1 to ${max}`, 'Choose a number within.')
  return count
}

function readTolerance(value: JsonValue | undefined, pointer: string): number {
  if (value === undefined) return TOLERANCE
  if (typeof value !== 'number' || value < 0 || value > 1)
    refuse(pointer, 'expected 0 to 1', 'Write 0.2 for a fifth.')
  return value as number
}
