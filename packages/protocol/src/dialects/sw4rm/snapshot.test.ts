// A context in a message: the very bytes, packed where they are many, and never unpacked beyond its bounds.
import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { snapshotBytes, snapshotOf, unpackContext } from './snapshot.ts'

it('W15 keeps any bytes as they are', () => {
  expect(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const snapshot = snapshotOf(bytes)
        return Buffer.from(bytes).equals(snapshotBytes(snapshot)) && snapshot.encoding === 'base64'
      }),
    ),
  ).not.toThrow()
})

it('W15 packs what is larger than 100 KB, and only that', () => {
  const large = Buffer.alloc(102_401, 'a')
  const snapshot = snapshotOf(large)
  expect(snapshot).toMatchObject({
    encoding: 'gzip+base64',
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(snapshot.bytes.length).toBeLessThan(1000)
  expect(Buffer.from(snapshotBytes(snapshot)).equals(large)).toBe(true)
  expect(snapshotOf(large.subarray(1)).encoding).toBe('base64')
})

it('W15 takes what the sender packed as it is, and reads through it', () => {
  const packed = gzipSync('{"metadata":{}}')
  const snapshot = snapshotOf(packed)
  expect(snapshot).toMatchObject({ encoding: 'base64', mediaType: expect.stringMatching(/gzip$/) })
  expect(Buffer.from(snapshotBytes(snapshot)).equals(packed)).toBe(true)
  expect(Buffer.from(unpackContext(packed)).toString()).toBe('{"metadata":{}}')
  expect(Buffer.from(unpackContext(Buffer.from('{}'))).toString()).toBe('{}')
})

it('W15 stops at a bomb, and at what is no gzip', () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  expect(bomb.length).toBeLessThan(60_000)
  expect(() => unpackContext(bomb)).toThrow('unpacks to more than 1048576 bytes')
  expect(() => unpackContext(Buffer.from([0x1f, 0x8b, 1, 2]))).toThrow('not a gzip stream')
  expect(() => unpackContext(bomb.subarray(0, 1000), 60_000_000)).toThrow('not a gzip stream')
})

it('W15 refuses what no message can carry, and what was altered', () => {
  const noise = Buffer.concat(
    Array.from({ length: 6400 }, (_, index) => hash('sha256', String(index), 'buffer')),
  )
  expect(() => snapshotOf(noise)).toThrow(
    /context_snapshot takes \d+ bytes packed; 196608 are allowed/,
  )
  const snapshot = snapshotOf(Buffer.from('{}'))
  expect(() => snapshotBytes({ ...snapshot, bytes: 'W10=' })).toThrow('does not have the digest')
})
