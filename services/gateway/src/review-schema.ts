// The form of what reviewers post, with its bounds.
import { UUID_PATTERN } from '@baton/protocol'

const closed = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const uuid = {
  type: 'string',
  pattern: UUID_PATTERN,
}
/** Postgres stores no NUL, so nothing can be called so. */
const cluster = { type: 'string', minLength: 1, maxLength: 1_024, pattern: '^[^\\u0000]*$' }

/** Most dead letters that one request may name, or take from a cluster. */
export const DRY_RUN_MAX = 200
export const REDRIVE_MAX = 500
export const RATE_DEFAULT = 10
export const VALID_HOURS_DEFAULT = 24

export const RELEASE_REQUEST = closed({
  validHours: {
    type: 'integer',
    minimum: 1,
    maximum: 168,
    default: VALID_HOURS_DEFAULT,
    description: 'How long the release may be made use of; reviewers agree only about the same.',
  },
})

const span = {
  type: 'array',
  items: { type: 'integer', minimum: 0, maximum: 1_048_576 },
  minItems: 2,
  maxItems: 2,
}

export const REDACT_REQUEST = closed({
  redactions: {
    type: 'array',
    minItems: 1,
    maxItems: 100,
    items: closed(
      {
        pointer: {
          type: 'string',
          maxLength: 1_024,
          pattern: '^(/[^\\u0000-\\u001f]*)+$',
          description: 'JSON pointer to a text of the message, or to what holds such texts.',
        },
        spans: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: span,
          description:
            'UTF-16 offsets [start, end) as in the evidence; without them all of it goes.',
        },
      },
      ['pointer'],
    ),
  },
  proposal: {
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'Instead of redactions: agree to what another reviewer proposed.',
  },
})

export const EMPTY_REQUEST = closed({})

export const DRY_RUN_REQUEST = closed({
  handoffIds: { type: 'array', minItems: 1, maxItems: DRY_RUN_MAX, items: uuid },
  cluster,
})

export const REDRIVE_REQUEST = closed({
  handoffIds: { type: 'array', minItems: 1, maxItems: REDRIVE_MAX, items: uuid },
  cluster,
  ratePerSecond: { type: 'integer', minimum: 1, maximum: 100, default: RATE_DEFAULT },
})
