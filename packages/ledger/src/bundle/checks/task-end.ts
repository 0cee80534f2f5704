// A trace that stops in the middle of a handoff cannot say how the task went.
import type { AuditEvent } from '../../audit-event.ts'
import type { Check } from '../checks.ts'
import { FILES } from '../format.ts'

const ENDS: readonly AuditEvent[] = [
  'HANDOFF_REJECTED',
  'HANDOFF_EXPIRED',
  'HANDOFF_CANCELED',
  'HANDOFF_RETURNED',
  'EXECUTION_COMPLETED',
  'ROLLED_BACK',
  'DEAD_LETTERED',
  'DEAD_LETTER_DISCARDED',
]

export const checkTaskEnd: Check = ({ log }) => {
  const open = new Map<string, { readonly origin: string; readonly seq: number }>()
  return {
    record({ file, body }) {
      if (file !== FILES.records || body === undefined) return
      const { handoffId, origin, seq, event } = body
      if (event === 'HANDOFF_ACCEPTED') open.set(handoffId, { origin, seq })
      else if (open.size > 0 && ENDS.includes(event)) open.delete(handoffId)
    },
    end() {
      for (const place of open.values()) {
        const message = 'the handoff was accepted, and nothing says how it ended'
        log.lack({ file: FILES.records, ...place }, message)
      }
    },
  }
}
