// What a join is built from is what processes with a signing key stored: who only writes to Postgres forges none of it.
// Pure. Each authenticator is bound to its fan-out or branch, so that none counts anywhere else.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { verifySignature } from '@baton/protocol'
import type { HandoffMessage, KeyRing } from '@baton/protocol'
import type { NewFanOut, ReadyFanOut } from '@baton/store'

/** The reason of a fan-out that ends because somebody changed it, or a result of it, in Postgres. */
export const FORGED = 'BATON_JOIN_FORGED'

type Value = string | number | null
type Content = readonly (Value | readonly Value[])[]

const BYTES = 32
/** A key for this alone: no signature of a message counts here, and nothing of here as one. */
const PURPOSE = 'baton/fan-out-mac/1'

const keyOf = (signing: KeyObject): Buffer =>
  Buffer.from(hkdfSync('sha256', signing, Buffer.alloc(0), PURPOSE, BYTES))

// As Postgres stores a text, without lone surrogates: the same when it is read again.
const bytesOf = (content: Content): string =>
  JSON.stringify(content, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed() : value,
  )

const macWith = (signing: KeyObject, content: Content): string =>
  createHmac('sha256', keyOf(signing)).update(bytesOf(content)).digest('hex')

function macOf(content: Content, { activeKeyId, keys }: KeyRing): string {
  const active = keys.get(activeKeyId)
  if (active === undefined) throw new TypeError(`The key ring has no key ${activeKeyId}`)
  return macWith(active.key, content)
}

/** Whether any key that is still believed made it: keys rotate while branches go on. */
function isMade(mac: string | null, content: Content, { keys }: KeyRing): boolean {
  if (mac === null || !/^[0-9a-f]{64}$/.test(mac)) return false
  const said = Buffer.from(mac)
  const believed = [...keys.values()].filter(({ status }) => status !== 'revoked')
  return believed.some(({ key }) => timingSafeEqual(said, Buffer.from(macWith(key, content))))
}

type Asked = Omit<NewFanOut, 'mac' | 'bounds' | 'branches'> & {
  readonly branches: readonly { readonly branchId: string; readonly name: string }[]
}

const asked = (fanOut: Asked): Content => [
  'fan-out',
  fanOut.fanOutId,
  fanOut.taskId,
  fanOut.handoffId,
  fanOut.branchId,
  fanOut.onFailure,
  fanOut.joinAfter,
  fanOut.joinRequest,
  fanOut.budgetMicroUSD,
  fanOut.spentMicroUSD,
  fanOut.reservedMicroUSD,
  ...fanOut.branches.map(({ branchId, name }) => [branchId, name]),
]

/** What came out of a branch, JSON, and the handoff that it ended with. */
interface BranchResult {
  readonly taskId: string
  readonly branchId: string
  readonly handoffId: string
  readonly result: string
}

const ended = ({ taskId, branchId, handoffId, result }: BranchResult): Content => [
  'branch-result',
  taskId,
  branchId,
  handoffId,
  result,
]

/** The fan-out with the authenticator of all that it asks for, and of the names of its branches. */
export const withMac = (fanOut: Omit<NewFanOut, 'mac'>, keyRing: KeyRing): NewFanOut => ({
  ...fanOut,
  mac: macOf(asked(fanOut), keyRing),
})

/** The authenticator of a branch's result; null where no branch ends with one. */
export function resultMac(
  one: {
    readonly [Name in keyof BranchResult]: BranchResult[Name] | null
  },
  keyRing: KeyRing,
): string | null {
  const { taskId, branchId, handoffId, result } = one
  if (taskId === null || branchId === null || handoffId === null || result === null) return null
  return macOf(ended({ taskId, branchId, handoffId, result }), keyRing)
}

type Carrier = ReadyFanOut['within'][number]

/** Whether it is the message of that handoff, as it was signed. */
function isSigned(
  { body, handoffId, keyId, signature }: Carrier,
  taskId: string,
  keyRing: KeyRing,
): boolean {
  if (body === null || keyId === null || signature === null) return false
  if (!verifySignature(body, { keyId, signature }, keyRing).ok) return false
  const message = JSON.parse(body.toString('utf8')) as HandoffMessage
  return message.handoffId === handoffId && message.taskId === taskId
}

/**
 * The fan-out as it may be joined; undefined where what it asks for, its branches, a result or the message of what
 * completed are not as they were stored. What failed brings nothing of a message that nobody signed: it may have failed for that.
 */
export function authentic(fanOut: ReadyFanOut, keyRing: KeyRing): ReadyFanOut | undefined {
  const { taskId, branches, within, mac } = fanOut
  const isMessage = (one: Carrier): boolean => isSigned(one, taskId, keyRing)
  const believed = <One extends Carrier>(one: One): One =>
    isMessage(one) ? one : { ...one, body: null }
  const isWhole =
    isMade(mac, asked(fanOut), keyRing) &&
    branches.every((branch) => isResult(branch, taskId, keyRing)) &&
    [...branches, ...within].every(({ named }) => named === null || isListOfNames(named)) &&
    [...branches, ...within].every((one) => one.outcome !== 'COMPLETED' || isMessage(one))
  if (!isWhole) return undefined
  return { ...fanOut, branches: branches.map(believed), within: within.map(believed) }
}

/** What nobody can read would be looked at again for ever. */
function isListOfNames(json: string): boolean {
  try {
    const names: unknown = JSON.parse(json)
    return Array.isArray(names) && names.every((one) => typeof one === 'string')
  } catch {
    return false
  }
}

function isResult(
  { branchId, handoffId, outcome, result, mac }: ReadyFanOut['branches'][number],
  taskId: string,
  keyRing: KeyRing,
): boolean {
  if (outcome !== 'COMPLETED') return result === null
  if (handoffId === null || result === null) return false
  return isMade(mac, ended({ taskId, branchId, handoffId, result }), keyRing)
}
