// What may be posted, by the names under which OpenAPI lists it.
import { HANDLING_REQUESTS } from './alert-selection-schema.ts'
import { SUBSCRIPTION_REQUESTS } from './events/subscription-schema.ts'
import { CLAIM_REQUEST, HEARTBEAT_REQUEST, SETTLE_REQUEST } from './executions/schema.ts'
import { MESSAGE_REQUESTS } from './handoffs-api/schema.ts'
import { MESSAGE_REVISION, RESUME_REQUEST, STATE_REVISION, TAKE_REQUEST } from './return-schema.ts'
import {
  DRY_RUN_REQUEST,
  EMPTY_REQUEST,
  REDACT_REQUEST,
  REDRIVE_REQUEST,
  RELEASE_REQUEST,
} from './review-schema.ts'
import { EMIT_REQUEST } from './streams/schema.ts'
import { MESSAGE_SUBMISSION, STATE_SUBMISSION } from './submission-schema.ts'

const REQUESTS = {
  StateSubmission: STATE_SUBMISSION,
  MessageSubmission: MESSAGE_SUBMISSION,
  TakeRequest: TAKE_REQUEST,
  StateRevision: STATE_REVISION,
  MessageRevision: MESSAGE_REVISION,
  ResumeRequest: RESUME_REQUEST,
  ReleaseRequest: RELEASE_REQUEST,
  RedactRequest: REDACT_REQUEST,
  EmptyRequest: EMPTY_REQUEST,
  ...HANDLING_REQUESTS,
  DryRunRequest: DRY_RUN_REQUEST,
  RedriveRequest: REDRIVE_REQUEST,
  ...MESSAGE_REQUESTS,
  ClaimRequest: CLAIM_REQUEST,
  HeartbeatRequest: HEARTBEAT_REQUEST,
  SettleRequest: SETTLE_REQUEST,
  EmitRequest: EMIT_REQUEST,
  ...SUBSCRIPTION_REQUESTS,
}

export const REQUEST_SCHEMAS = Object.entries(REQUESTS).map(([$id, schema]) => ({ $id, ...schema }))
