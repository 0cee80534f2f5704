// Puts the fields of a message into one text, so that a payload split over fields is read as one, and finds the way back.
import type { Field } from './fields.ts'
import type { Span } from './span-map.ts'

/** All fields one after another, a line break between them. */
export interface MessageText {
  readonly text: string
  readonly fields: readonly Field[]
  /** Where each field begins. */
  readonly starts: readonly number[]
}

/** A place in one field. */
export interface FieldSpan {
  readonly field: Field
  readonly span: Span
  /** The span went on into the next field. */
  readonly crossed: boolean
}

export function joinFields(fields: readonly Field[]): MessageText {
  const starts: number[] = []
  let length = 0
  for (const field of fields) {
    starts.push(length)
    length += field.text.length + 1
  }
  return { text: fields.map((field) => field.text).join('\n'), fields, starts }
}

/** The field in which a span of the text begins, and the part of the span inside it; a text with a span has a field. */
export function fieldAt(message: MessageText, [start, end]: Span): FieldSpan {
  let low = 0
  let high = message.starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((message.starts[middle] ?? 0) <= start) low = middle
    else high = middle - 1
  }
  const field = message.fields[low]
  if (field === undefined) throw new RangeError('A span was asked for in a message without text')
  const offset = message.starts[low] ?? 0
  const until = Math.min(field.text.length, end - offset)
  return {
    field,
    span: [Math.min(start - offset, until), until],
    crossed: end - offset > field.text.length,
  }
}
