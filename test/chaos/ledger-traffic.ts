// The handoffs of a ledger campaign: every kind ends well, so that each leaves decisions and effects to compare.
import type { SeededRandom } from '@baton/testkit'
import { sendingOf } from './traffic.ts'
import type { Sending } from './traffic.ts'

const COMPLETES = { states: ['COMPLETED'] }
const WORK_MS = { min: 20, max: 600 }

const KINDS = [
  { kind: 'chain', weight: 60, target: 'chain' },
  { kind: 'fork', weight: 10, target: 'fork' },
  { kind: 'last', weight: 30, target: 'last' },
] as const

export function drawCompleting(random: SeededRandom): Sending {
  let left = random.next() * KINDS.reduce((sum, { weight }) => sum + weight, 0)
  const kind = KINDS.find(({ weight }) => (left -= weight) < 0) ?? KINDS[0]
  const workMs = random.integer(WORK_MS.min, WORK_MS.max)
  const sending = sendingOf({ ...kind, via: 'sdk', expect: COMPLETES }, random)
  const { state } = sending
  return { ...sending, state: { ...state, currentState: { ...state.currentState, workMs } } }
}
