// The description of this interface: hand-kept paths, and the very schemas that bodies are checked with.
import document from '../openapi.json' with { type: 'json' }
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
    },
  },
}
