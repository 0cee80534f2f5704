// What a sender's own code is told when a handoff of its comes back, and what it may answer.
import type { Checkpoint, HandoffMessage } from '@baton/protocol'
import type { SenderNotice } from '@baton/store'
import type { ResumeChange } from './prepare-resumption.ts'
import type { Correction } from './prepare-revision.ts'
import type { Sent } from './send-handoff.ts'

interface Told extends Pick<
  SenderNotice,
  | 'handoffId'
  | 'taskId'
  | 'fromAgent'
  | 'toAgent'
  | 'attempt'
  | 'attemptsMax'
  | 'reason'
  | 'details'
  | 'traceparent'
> {
  /** What the sender saved: its state, and the request the message was built from. */
  readonly saved: Checkpoint
}

/** A refused handoff: `details` say what was wrong, at which JSON pointer, and how to mend it (E09). */
export interface ReturnedHandoff extends Told {
  readonly revision: number
  /** The message that was refused. */
  readonly message: HandoffMessage
  /** When it is tried again as it is, unless it is corrected before. */
  readonly retryAt: Date | null
}

/** A handoff that came to nothing; its task waits at the sender's checkpoint (E15). */
export interface RolledBackHandoff extends Told {
  /** The exact bytes that were saved, compared with their digest. */
  readonly checkpoint: Uint8Array
  /**
   * Sends it again as a new handoff, as it stood or with changes. Only the first call sends;
   * repeating it answers the same handoff as a duplicate.
   */
  resume(change?: ResumeChange): Promise<Sent>
}

/** Hooks may be called again for the same handoff: after a crash, an error or a lease that ended. */
export interface NoticeHooks {
  /** Answers the correction, or nothing where it has none: then the attempts go on as they were. */
  onReturn?(returned: ReturnedHandoff): Promise<Correction | undefined>
  /** Resumes the task, does something else about it, or leaves it to a person. */
  onRollback?(rolledBack: RolledBackHandoff): Promise<void>
}
