// The description of this interface: hand-kept paths, and the very schemas that bodies are checked with.
import document from '../openapi.json' with { type: 'json' }
import { MESSAGE_REVISION, RESUME_REQUEST, STATE_REVISION, TAKE_REQUEST } from './return-schema.ts'
import {
  DRY_RUN_REQUEST,
  EMPTY_REQUEST,
  REDACT_REQUEST,
  REDRIVE_REQUEST,
  RELEASE_REQUEST,
} from './review-schema.ts'
import { MESSAGE_SUBMISSION, STATE_SUBMISSION } from './submission-schema.ts'

/** OpenAPI 3.1; a test compares its paths with the routes that exist. */
export const OPENAPI = {
  ...document,
  components: {
    ...document.components,
    schemas: {
      ...document.components.schemas,
      StateSubmission: STATE_SUBMISSION,
      MessageSubmission: MESSAGE_SUBMISSION,
      TakeRequest: TAKE_REQUEST,
      StateRevision: STATE_REVISION,
      MessageRevision: MESSAGE_REVISION,
      ResumeRequest: RESUME_REQUEST,
      ReleaseRequest: RELEASE_REQUEST,
      RedactRequest: REDACT_REQUEST,
      EmptyRequest: EMPTY_REQUEST,
      DryRunRequest: DRY_RUN_REQUEST,
      RedriveRequest: REDRIVE_REQUEST,
    },
  },
}
