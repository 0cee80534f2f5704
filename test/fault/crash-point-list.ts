// Every crash point with the process that dies there and the traffic that leads it there: the one list of them.
import type { ServiceName } from '@baton/testkit'

/** Killed under tasks sent to `target`; `first` where none is named. */
interface UnderLoad {
  readonly service: ServiceName
  readonly target?: 'broken' | 'forking'
}

/** Another file leads a process there, because it takes more than tasks. */
interface Elsewhere {
  readonly shownIn: string
}

const RELAY: UnderLoad = { service: 'relay' }
const RECEIVER: UnderLoad = { service: 'receiver' }
const ROLLING_BACK: UnderLoad = { service: 'receiver', target: 'broken' }
const FANNING_IN: UnderLoad = { service: 'receiver', target: 'forking' }
const AUDITOR: UnderLoad = { service: 'auditor' }
const SENDER: Elsewhere = { shownIn: 'test/fault/outages.test.ts' }
const CORRECTING: Elsewhere = { shownIn: 'test/fault/people-crash-points.test.ts' }
const CONTROL: Elsewhere = { shownIn: 'test/fault/control.test.ts' }
const SEALING: Elsewhere = { shownIn: 'test/integration/audit-seals-sealer.test.ts' }
const STANDING_BY: Elsewhere = { shownIn: 'test/integration/sealer-standby.test.ts' }
const WITNESSING: Elsewhere = { shownIn: 'test/integration/audit-seals-witness.test.ts' }
const ERASING: Elsewhere = { shownIn: 'test/integration/erasure-crash.test.ts' }
const ROTATING: Elsewhere = { shownIn: 'test/integration/key-rotation.test.ts' }
const ARCHIVING: Elsewhere = { shownIn: 'test/integration/audit-tiers-crash.test.ts' }
const PULLING: Elsewhere = { shownIn: 'test/fault/remote-crash-points.test.ts' }
const STREAMING: Elsewhere = { shownIn: 'test/fault/streams.test.ts' }
const PUSHING: Elsewhere = { shownIn: 'test/fault/push-crash-points.test.ts' }
const IMPORTING: Elsewhere = { shownIn: 'test/integration/offers-import.test.ts' }
const OFFERING: Elsewhere = { shownIn: 'test/integration/offers-processes.test.ts' }
const REPLYING: Elsewhere = { shownIn: 'test/integration/session-replies.test.ts' }
const DISPATCHING: Elsewhere = { shownIn: 'test/integration/session-workers.test.ts' }
const REVIEWING: Elsewhere = { shownIn: 'test/integration/review-crash.test.ts' }

/** `test/tidy` compares the names with the code. */
export const CRASH_POINTS: Readonly<Record<string, UnderLoad | Elsewhere>> = {
  'sender.before_commit': SENDER,
  'sender.after_commit': SENDER,
  'relay.after_claim': RELAY,
  'relay.after_publish': RELAY,
  'relay.after_update': RELAY,
  'relay.after_commit': RELAY,
  'sweeper.after_select': RELAY,
  'sweeper.after_commit': RELAY,
  'receiver.after_fetch': RECEIVER,
  'receiver.after_claim': RECEIVER,
  'receiver.after_validate': RECEIVER,
  'receiver.after_audit': RECEIVER,
  'receiver.after_start': RECEIVER,
  'receiver.mid_execute': RECEIVER,
  'receiver.before_effect_commit': RECEIVER,
  'receiver.after_effect_commit': RECEIVER,
  'rollback.before_commit': ROLLING_BACK,
  'rollback.after_commit': ROLLING_BACK,
  'join.before_commit': FANNING_IN,
  'join.after_commit': FANNING_IN,
  'approval.before_commit': CONTROL,
  'approval.after_commit': CONTROL,
  'cancel.before_commit': CONTROL,
  'cancel.after_commit': CONTROL,
  'reroute.before_commit': CONTROL,
  'chunk.before_commit': STREAMING,
  'chunk.after_commit': STREAMING,
  'remote.after_take': PULLING,
  'remote.before_settle': PULLING,
  'remote.after_settle': PULLING,
  'pull.before_answer': PULLING,
  'push.before_call': PUSHING,
  'push.after_answer': PUSHING,
  'push.after_taken': PUSHING,
  'session.after_send': REPLYING,
  'session.before_reply': REPLYING,
  'session.after_reply': REPLYING,
  'session.before_dispatch': DISPATCHING,
  'session.after_dispatch': DISPATCHING,
  'review.before_commit': REVIEWING,
  'review.after_commit': REVIEWING,
  'auditor.before_append': AUDITOR,
  'auditor.after_append': AUDITOR,
  'auditor.after_vault_set': ROTATING,
  'resume.before_commit': CORRECTING,
  'resume.after_commit': CORRECTING,
  'returns.before_commit': CORRECTING,
  'returns.after_commit': CORRECTING,
  'erasure.after_request': ERASING,
  'erasure.after_key': ERASING,
  'erasure.after_payloads': ERASING,
  'erasure.after_store': ERASING,
  'erasure.before_completed': ERASING,
  'sealer.before_state': SEALING,
  'sealer.before_rename': SEALING,
  'sealer.before_publish': SEALING,
  'sealer.after_publish': SEALING,
  'sealer.after_propose': STANDING_BY,
  'sealer.after_cosign': STANDING_BY,
  'sealer.after_task_map': SEALING,
  'witness.before_rename': WITNESSING,
  'archiver.after_put': ARCHIVING,
  'archiver.before_mark': ARCHIVING,
  'archiver.before_head': ARCHIVING,
  'archiver.before_drop': ARCHIVING,
  'archiver.after_drop': ARCHIVING,
  'import.after_send': IMPORTING,
  'import.after_step': IMPORTING,
  'offers.before_rename': OFFERING,
  'offers.after_rename': OFFERING,
}

/** The points that tasks alone lead to. */
export const UNDER_LOAD = Object.entries(CRASH_POINTS).flatMap(([point, how]) =>
  'service' in how ? [{ point, ...how }] : [],
)
