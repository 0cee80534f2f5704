// Whether the receiver has what it needs to start (E06).
import type { AgentRegistration } from '../agent-registration.ts'
import type { Detail } from '../detail.ts'
import type { HandoffMessage } from '../handoff-message.ts'
import { pointerTo } from '../json.ts'

/** The literal task description of a first handoff, before which no work can have been done. */
export const INITIAL = 'INITIAL'

/** What it looks at, of a message or of the state that one is made of. */
type Judged = Pick<HandoffMessage, 'taskDescription' | 'currentState'> & {
  readonly completedSubtasks: readonly unknown[]
}

/** Every gap; each makes the message INCOMPLETE_CONTEXT. */
export function checkCompleteness(
  message: Judged,
  agent: AgentRegistration | undefined,
): readonly Detail[] {
  const details: Detail[] = []
  if (message.completedSubtasks.length === 0 && message.taskDescription !== INITIAL)
    details.push(NO_WORK_DONE)
  for (const key of agent?.requires ?? [])
    if (!Object.hasOwn(message.currentState, key)) details.push(missingState(key))
  return details
}

const NO_WORK_DONE: Detail = {
  pointer: '/completedSubtasks',
  rule: 'completedSubtasks',
  message: 'nothing was completed, and this is no first handoff',
  fix: 'List what was completed. On a first handoff leave taskDescription out, or make it INITIAL, and say in currentState what is to be done.',
}

function missingState(key: string): Detail {
  return {
    pointer: pointerTo('/currentState', key),
    rule: 'requiredState',
    message: 'the receiving agent type requires this key',
    fix: 'Put it into currentState before handing off.',
  }
}
