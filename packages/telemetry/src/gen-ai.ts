// Executions of agents in the words of the OpenTelemetry conventions for generative AI (1.45, Development).
import {
  ATTR_GEN_AI_AGENT_NAME,
  ATTR_GEN_AI_AGENT_VERSION,
  ATTR_GEN_AI_CONVERSATION_ID,
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
} from '@opentelemetry/semantic-conventions/incubating'
import type { SpanAttributes } from './span.ts'

interface InvokedAgent {
  readonly type: string
  readonly version: string
}

/** The attributes of a span in which an agent works. An agent does not say which model it asks, so that no model is named. */
export const invokeAgentAttributes = (
  { type, version }: InvokedAgent,
  taskId: string,
): SpanAttributes => ({
  [ATTR_GEN_AI_OPERATION_NAME]: GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
  [ATTR_GEN_AI_PROVIDER_NAME]: 'baton',
  [ATTR_GEN_AI_AGENT_NAME]: type,
  [ATTR_GEN_AI_AGENT_VERSION]: version,
  [ATTR_GEN_AI_CONVERSATION_ID]: taskId,
})

/** What the agent says it used; known when it has ended. */
export const usageAttributes = ({
  prompt,
  completion,
}: {
  readonly prompt: number
  readonly completion: number
}): SpanAttributes => ({
  [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: prompt,
  [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: completion,
})
