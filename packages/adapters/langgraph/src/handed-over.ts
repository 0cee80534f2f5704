// What a graph that Baton hosts has handed over is part of its state, so that an attempt that goes on from a checkpoint hands it over as well.
import { AIMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { jsonOf } from '@baton/sdk'
import type { HandOverRequest } from '@baton/sdk'

const MARK = 'baton_handed_over'

type Marked = Omit<HandOverRequest, 'messages' | 'signal'>

/** The message that stands for it in the state. */
export function handedOverMessage({
  messages: _messages,
  signal: _signal,
  ...request
}: HandOverRequest): AIMessage {
  const marked = jsonOf(request, 'what is handed over')
  return new AIMessage({
    content: `Handed over to ${request.to}.`,
    additional_kwargs: { [MARK]: marked },
  })
}

/** What stands in a state; the conversation goes along with the execution itself. */
export const handedOverIn = (messages: readonly BaseMessage[]): readonly HandOverRequest[] =>
  messages.flatMap(({ additional_kwargs: kept }) => {
    const marked = kept[MARK] as Marked | undefined
    return marked === undefined ? [] : [{ ...marked, messages: [] }]
  })
