// What is posted to a stream and what its readers are answered.
import { CHUNK_KIND_PATTERN } from '@baton/engine'
import { UUID_PATTERN } from '@baton/protocol'

const closed = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const seq = { type: 'integer', minimum: 1, maximum: 10_000 }
const kind = {
  type: 'string',
  pattern: CHUNK_KIND_PATTERN,
  description: 'What it is, in a word of the agent’s own.',
}
const content = { description: 'Any JSON value; the whole chunk takes at most 64 KiB.' }

const CHUNKS_PER_REQUEST_MAX = 100

export const EMIT_REQUEST = closed(
  {
    fencingToken: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    seq: { ...seq, description: 'The number of the first chunk; the others follow it.' },
    chunks: {
      type: 'array',
      items: closed({ kind: { ...kind, default: 'text' }, content }, ['content']),
      minItems: 1,
      maxItems: CHUNKS_PER_REQUEST_MAX,
    },
  },
  ['fencingToken', 'seq', 'chunks'],
)

export const EMITTED = {
  type: 'object',
  properties: {
    handoffId: { type: 'string', format: 'uuid', pattern: UUID_PATTERN },
    seq: { ...seq, description: 'The number of the last of them: they are durable.' },
  },
  required: ['handoffId', 'seq'],
}

export const STREAM_PAGE = {
  type: 'object',
  properties: {
    handoffId: { type: 'string', format: 'uuid' },
    state: { type: 'string', description: 'The state of the handoff.' },
    reason: { type: ['string', 'null'] },
    committed: { type: 'integer', description: 'How many chunks the stream has by now.' },
    ended: { type: 'boolean', description: 'Nothing is added any more.' },
    complete: {
      type: 'boolean',
      description: 'It has ended with a result, which was checked to be of exactly these chunks.',
    },
    erased: {
      type: 'boolean',
      description: 'Its chunks were erased with the people they tell of.',
    },
    chunks: {
      type: 'array',
      items: {
        type: 'object',
        properties: { seq, kind, content },
        required: ['seq', 'kind', 'content'],
      },
    },
  },
  required: ['handoffId', 'state', 'reason', 'committed', 'ended', 'complete', 'erased', 'chunks'],
}
