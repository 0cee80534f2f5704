// Tools by which people decide. Each takes the signature of the person, made outside of the model: without it nothing is decided, and what would have to be
// signed is answered.
import type { ToolAnnotations } from '@modelcontextprotocol/server'
import { UUID_PATTERN } from '@baton/protocol'
import { ref } from '../operation.ts'
import { REDACT_REQUEST, RELEASE_REQUEST } from '../review-schema.ts'
import { ADDS, closed, tool } from './tool.ts'
import type { Tool } from './tool.ts'

/** Cannot be taken back. */
const DECIDES: ToolAnnotations = { ...ADDS, destructiveHint: true }

const HANDOFF = {
  handoffId: { type: 'string', pattern: UUID_PATTERN, description: 'Of what is decided about.' },
}

const SIGNATURE = {
  signature: {
    type: 'string',
    pattern: '^[0-9a-f]{16} [\\x21-\\x7e]{24} [0-9a-f]{32} [0-9a-f]{64} [A-Za-z0-9+/]{86}==$',
    description:
      'What the person signed, as `baton people sign` prints it. Leave it out to learn what is to be signed (decisionNeeded); never make one up.',
  },
}

interface Signed {
  readonly handoffId: string
  readonly signature?: string
}

const signedHeaders = ({ signature }: Pick<Signed, 'signature'>) =>
  signature === undefined ? {} : { 'baton-decision': signature }

const decideApproval = tool<Signed & { readonly decision: 'approve' | 'reject' }>({
  name: 'decide_approval',
  title: 'Approve or refuse a handoff',
  description:
    'Give the decision of a person about a handoff that waits for one (list_approvals). It takes that person’s signature, who is not the one who sent it; the first decision is final, and the same again is safe.',
  scope: 'approvals:decide',
  annotations: DECIDES,
  inputSchema: closed(
    {
      ...HANDOFF,
      decision: { type: 'string', enum: ['approve', 'reject'] },
      reasonCode: {
        type: 'string',
        pattern: '^[A-Z][A-Z0-9_]{0,63}$',
        description: 'Goes into the audit record: a code and never text.',
      },
      ...SIGNATURE,
    },
    ['handoffId', 'decision'],
  ),
  outputSchema: { allOf: [ref('DecidedApproval')], type: 'object' },
  async run({ handoffId, signature, ...body }, call) {
    const decided = (await call({
      method: 'POST',
      path: `/v2/approvals/${handoffId}`,
      body,
      headers: signedHeaders(signature === undefined ? {} : { signature }),
    })) as { readonly decidedBy: string; readonly state: string }
    return {
      data: decided,
      text: `Decided by ${decided.decidedBy}: ${body.decision}. The handoff is ${decided.state}.`,
    }
  },
})

interface Review {
  readonly name: string
  readonly title: string
  readonly action: string
  readonly description: string
  readonly body: Readonly<Record<string, object>>
  readonly isSigned: boolean
}

const REVIEWS: readonly Review[] = [
  {
    name: 'release_dead_letter',
    title: 'Vote to release a dead letter',
    action: 'release',
    description:
      'Give a reviewer’s vote to let a dead letter go on as it is; a safety violation needs two people. It takes that person’s signature.',
    body: RELEASE_REQUEST.properties as Readonly<Record<string, object>>,
    isSigned: true,
  },
  {
    name: 'redact_dead_letter',
    title: 'Vote to redact a dead letter',
    action: 'redact',
    description:
      'Give a reviewer’s vote to let a dead letter go on with texts taken out: `redactions`, or the `proposal` of another reviewer. It takes that person’s signature.',
    body: REDACT_REQUEST.properties as Readonly<Record<string, object>>,
    isSigned: true,
  },
  {
    name: 'discard_dead_letter',
    title: 'Discard a dead letter',
    action: 'discard',
    description:
      'Give a reviewer’s decision to give a dead letter up for good; its task fails where nothing else of it is open. It takes that person’s signature.',
    body: {},
    isSigned: true,
  },
  {
    name: 'return_dead_letter',
    title: 'Hand a dead letter back to its sender',
    action: 'ask-sender',
    description:
      'Hand a dead letter back to its sender, whose correction takes its place; it is judged anew.',
    body: {},
    isSigned: false,
  },
]

const reviewTool = ({ action, body: members, isSigned, ...words }: Review): Tool =>
  tool<Signed>({
    ...words,
    scope: 'dead-letters:review',
    annotations: isSigned ? DECIDES : ADDS,
    inputSchema: closed({ ...HANDOFF, ...members, ...(isSigned ? SIGNATURE : {}) }, ['handoffId']),
    outputSchema: { allOf: [ref('ReviewOutcome')], type: 'object' },
    async run({ handoffId, signature, ...body }, call) {
      const outcome = (await call({
        method: 'POST',
        path: `/v2/dead-letters/${handoffId}/${action}`,
        body,
        headers: signedHeaders(signature === undefined ? {} : { signature }),
      })) as {
        readonly outcome: string
        readonly reviewers?: readonly string[]
        readonly needed?: number
      }
      return { data: outcome, text: describe(outcome) }
    },
  })

function describe({
  outcome,
  reviewers = [],
  needed = 0,
}: {
  readonly outcome: string
  readonly reviewers?: readonly string[]
  readonly needed?: number
}): string {
  if (outcome === 'waiting')
    return `Voted: ${reviewers.length} of ${needed} people have agreed; others are needed.`
  return outcome === 'asked' ? 'Its sender was asked for another message.' : 'Decided.'
}

export const DECIDE_TOOLS = [decideApproval, ...REVIEWS.map(reviewTool)]
