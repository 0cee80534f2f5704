// Handoffs as messages in the words of the OpenTelemetry messaging conventions (1.44, Development).
import {
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_MESSAGE_CONVERSATION_ID,
  ATTR_MESSAGING_MESSAGE_ID,
  ATTR_MESSAGING_OPERATION_NAME,
  ATTR_MESSAGING_OPERATION_TYPE,
  ATTR_MESSAGING_SYSTEM,
} from '@opentelemetry/semantic-conventions/incubating'
import type { SpanAttributes } from './span.ts'

export interface HandoffOperation {
  readonly operation: 'send' | 'process'
  /** The agent type, which is the queue's name in Baton's words. */
  readonly destination: string
  readonly handoffId: string
  readonly taskId: string
}

/**
 * The attributes of a span about one handoff: message id and conversation id are Baton's ids. Such
 * a span is named `<operation> <destination>`; its kind is producer for send, consumer for process.
 */
export function messagingAttributes(handoff: HandoffOperation): SpanAttributes {
  return {
    [ATTR_MESSAGING_SYSTEM]: 'bullmq',
    [ATTR_MESSAGING_OPERATION_NAME]: handoff.operation,
    [ATTR_MESSAGING_OPERATION_TYPE]: handoff.operation,
    [ATTR_MESSAGING_DESTINATION_NAME]: handoff.destination,
    [ATTR_MESSAGING_MESSAGE_ID]: handoff.handoffId,
    [ATTR_MESSAGING_MESSAGE_CONVERSATION_ID]: handoff.taskId,
  }
}
