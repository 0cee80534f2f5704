// A CloudEvent as an HTTP message, in either mode of the HTTP protocol binding.
import type { EventMode } from '@baton/store'

interface EventMessage {
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

/** Of an event as JSON: the whole of it as the body, or its data with its attributes as headers. */
export function messageOf(event: string, mode: EventMode): EventMessage {
  if (mode === 'structured')
    return { body: event, contentType: 'application/cloudevents+json; charset=utf-8', headers: {} }
  const { data, datacontenttype, ...attributes } = JSON.parse(event) as Event
  const headers = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, encode(value)])
  return {
    body: JSON.stringify(data),
    contentType: datacontenttype,
    headers: Object.fromEntries(headers) as Record<string, string>,
  }
}

interface Event {
  readonly data: unknown
  readonly datacontenttype: string
  readonly [attribute: string]: unknown
}

/** As the binding says: what is no printable ASCII, the space, the quote and the percent sign are percent-encoded. */
const encode = (value: unknown): string =>
  String(value).replaceAll(/[^\u0021\u0023\u0024\u0026-\u007e]+/gu, (text) =>
    [...Buffer.from(text)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  )
