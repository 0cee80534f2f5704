// Which chunks are still to be committed, and which can never be: of every kind of try on a stream.
import { describe, expect, it } from 'vitest'
import type { NewChunk } from '@baton/store'
import { numberChunk, readChunk, stillToCommit } from './chunks.ts'

const text = (seq: number, content = `part ${seq}`): NewChunk => numberChunk({ content }, seq)
const held = (chunks: number, bytes = 0) => ({ held: true, chunks, bytes })
const standing = (chunks: number) => ({
  place: held(chunks),
  committed: Array.from({ length: chunks }, (_, index) => text(index + 1)),
})

describe('what is still to be committed', () => {
  it('is what follows', () => {
    expect(stillToCommit([text(3), text(4)], standing(2))).toEqual([text(3), text(4)])
  })

  it('is nothing of what an earlier try has committed, and the rest of what it had begun', () => {
    expect(stillToCommit([text(1), text(2)], standing(2))).toEqual([])
    expect(stillToCommit([text(2), text(3)], standing(2))).toEqual([text(3)])
  })

  it.each([
    ['other bytes', [text(2, 'other'), text(3)], standing(2), 'BATON_CHUNK_CONFLICT'],
    ['a number left out', [text(4)], standing(2), 'BATON_CHUNK_GAP'],
    ['too many', [text(10_001)], { place: held(10_000), committed: [] }, 'BATON_STREAM_FULL'],
    ['too much', [text(2)], { place: held(1, 16_777_216), committed: [] }, 'BATON_STREAM_FULL'],
    [
      'a lost lease',
      [text(1)],
      { place: { ...held(0), held: false }, committed: [] },
      'BATON_EXECUTION_LOST',
    ],
    ['no execution', [text(1)], { place: undefined, committed: [] }, 'BATON_EXECUTION_LOST'],
  ])('cannot be %s', (_, chunks, stands, code) => {
    expect(() => stillToCommit(chunks, stands)).toThrow(expect.objectContaining({ code }))
  })
})

describe('a chunk', () => {
  it('has one byte form, and is read back from it', () => {
    const chunk = numberChunk({ kind: 'table', content: { b: 1, a: ['ü', null] } }, 7)
    expect(Buffer.from(chunk.body).toString()).toBe(
      '{"content":{"a":["ü",null],"b":1},"kind":"table"}',
    )
    expect(readChunk(chunk)).toEqual({ seq: 7, kind: 'table', content: { a: ['ü', null], b: 1 } })
    expect(readChunk(numberChunk({ content: 1 }, 1))).toMatchObject({ kind: 'text' })
  })

  it.each([
    ['a number below 1', { content: 1 }, 0],
    ['half a number', { content: 1 }, 1.5],
    ['a kind that is no name', { kind: 'A b', content: 1 }, 1],
    ['no content', {} as never, 1],
    ['content that JSON cannot say', { content: Number.NaN }, 1],
    ['more than 64 KiB', { content: 'x'.repeat(65_536) }, 1],
  ])('is nothing with %s', (_, chunk, seq) => {
    expect(() => numberChunk(chunk, seq)).toThrow(
      expect.objectContaining({ code: 'BATON_CHUNK_INVALID' }),
    )
  })
})
