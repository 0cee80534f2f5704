// Handoffs as messages in the words of the OpenTelemetry messaging conventions (1.45, Development).
import {
  ATTR_MESSAGING_BATCH_MESSAGE_COUNT,
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_DESTINATION_PUBLISH_NAME,
  ATTR_MESSAGING_MESSAGE_CONVERSATION_ID,
  ATTR_MESSAGING_MESSAGE_ID,
  ATTR_MESSAGING_OPERATION_NAME,
  ATTR_MESSAGING_OPERATION_TYPE,
  ATTR_MESSAGING_SYSTEM_NAME,
  MESSAGING_OPERATION_TYPE_VALUE_SEND,
} from '@opentelemetry/semantic-conventions/incubating'
import type { SpanAttributes } from './span.ts'

export interface HandoffOperation {
  readonly operation: 'send' | 'receive' | 'process' | 'settle'
  /** The agent type, which is the queue's name in Baton's words. */
  readonly destination: string
  /** The agent type it was sent to, where another one takes it. */
  readonly sentTo?: string
  readonly handoffId: string
  readonly taskId: string
}

/**
 * The attributes of a span about one handoff: message id and conversation id are Baton's ids. Such
 * a span is named `<operation> <destination>`; its kind is producer for send, consumer for process and
 * client for receive and settle. The system is Baton itself, whatever carries its queue messages.
 */
export function messagingAttributes(handoff: HandoffOperation): SpanAttributes {
  const { operation, destination, sentTo = destination, handoffId, taskId } = handoff
  return {
    [ATTR_MESSAGING_SYSTEM_NAME]: 'baton',
    [ATTR_MESSAGING_OPERATION_NAME]: operation,
    [ATTR_MESSAGING_OPERATION_TYPE]: operation,
    [ATTR_MESSAGING_DESTINATION_NAME]: destination,
    ...(sentTo === destination ? {} : { [ATTR_MESSAGING_DESTINATION_PUBLISH_NAME]: sentTo }),
    [ATTR_MESSAGING_MESSAGE_ID]: handoffId,
    [ATTR_MESSAGING_MESSAGE_CONVERSATION_ID]: taskId,
  }
}

interface Publication {
  /** What carries the queue messages. */
  readonly queue: 'redis' | 'in-process'
  readonly rows: readonly { readonly queue: string; readonly handoffId: string }[]
}

/** The attributes of a span about a batch of queue messages; the agent type is named where it is the same for all. */
export function publishAttributes({ queue, rows }: Publication): SpanAttributes {
  const [first] = rows
  const isOne = first !== undefined && rows.every((row) => row.queue === first.queue)
  return {
    [ATTR_MESSAGING_SYSTEM_NAME]: queue === 'redis' ? 'bullmq' : 'in_process',
    [ATTR_MESSAGING_OPERATION_NAME]: 'publish',
    [ATTR_MESSAGING_OPERATION_TYPE]: MESSAGING_OPERATION_TYPE_VALUE_SEND,
    [ATTR_MESSAGING_BATCH_MESSAGE_COUNT]: rows.length,
    ...(isOne ? { [ATTR_MESSAGING_DESTINATION_NAME]: first.queue } : {}),
  }
}
