// A reader of events over server-sent events, who leaves after some of them.

export interface StreamedEvent {
  readonly id: string
  readonly type: string
  readonly subject: string
}

interface Reading {
  readonly url: string
  readonly key: string
  /** The id of the last event that the reader has; from now on without it. */
  readonly after: string | undefined
  readonly query: string
  readonly countMax: number
}

export async function readEvents({
  url,
  key,
  after,
  query,
  countMax,
}: Reading): Promise<readonly StreamedEvent[]> {
  const leaving = new AbortController()
  const response = await fetch(`${url}/v2/events?${query}`, {
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'text/event-stream',
      ...(after === undefined ? {} : { 'last-event-id': after }),
    },
    signal: leaving.signal,
  })
  if (!response.ok || response.body === null)
    throw new Error(`${response.status} ${await response.text()}`)
  const events: StreamedEvent[] = []
  let text = ''
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  while (events.length < countMax) {
    const { done, value } = await reader.read()
    if (done) return events
    const parts = `${text}${value}`.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) {
      const [, id, data] = /^id: (\S+)\ndata: (.*)$/.exec(part) ?? []
      if (data === undefined || events.length === countMax) continue
      const event = JSON.parse(data) as StreamedEvent
      if (event.id !== id) throw new Error('the id of the stream is not that of the event')
      events.push(event)
    }
  }
  leaving.abort()
  return events
}
