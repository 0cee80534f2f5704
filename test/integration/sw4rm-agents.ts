// An agent with the hooks of SW4RM for a receiver: it answers with the very bytes of the context that it was given.
import { defineSw4rmAgent, deserializeContext, serializeContext } from '@baton/sdk/sw4rm'
import type { HandoffRequest } from '@baton/sdk/sw4rm'

class Specialist {
  seen: string[] = []
  bytes: Uint8Array = new Uint8Array()
  onHandoffRequest(request: HandoffRequest) {
    this.seen.push(`asked by ${request.fromAgent}`)
    this.bytes = request.contextSnapshot ?? this.bytes
    return {
      accepted: true,
      handoffId: '',
      rejectionReason: null,
      status: 'ACCEPTED',
      metadata: {},
    } as const
  }
  onHandoffReceived() {
    this.seen.push('received')
  }
}

export const agents = [
  defineSw4rmAgent({
    type: 'hosted-specialist',
    version: '1.0.0',
    capabilities: ['security_analysis'],
    create: () => new Specialist(),
    work: async ({ seen, bytes }) => {
      const result = {
        seen,
        bytes: Buffer.from(serializeContext(deserializeContext(bytes))).toString('base64'),
      }
      return {
        subtask: { subtaskId: 'analyse', description: 'Analysed', result },
        state: {},
        costUSD: 0.001,
        tokens: { prompt: 0, completion: 0 },
        next: [],
        result,
      }
    },
  }),
]
