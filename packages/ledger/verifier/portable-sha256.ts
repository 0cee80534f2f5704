// SHA-256 and SHA-512 (FIPS 180-4) without any library, for a page that is opened from a file.
import { toHex } from '../src/bytes.ts'

const PRIMES: bigint[] = []
for (let candidate = 2n; PRIMES.length < 80; candidate += 1n) {
  if (PRIMES.every((prime) => candidate % prime !== 0n)) PRIMES.push(candidate)
}

/** The first 64 bits after the point of a root of `prime`: floor(root * 2^64) mod 2^64. */
function fraction(prime: bigint, degree: bigint): bigint {
  const target = prime << (64n * degree)
  let [low, high] = [0n, prime << 64n]
  while (low < high) {
    const middle = (low + high + 1n) >> 1n
    if (middle ** degree <= target) low = middle
    else high = middle - 1n
  }
  return low & 0xffffffffffffffffn
}

const CUBE_ROOTS = PRIMES.map((prime) => fraction(prime, 3n))
const SQUARE_ROOTS = PRIMES.slice(0, 8).map((prime) => fraction(prime, 2n))
const K_256 = Uint32Array.from(CUBE_ROOTS.slice(0, 64), (word) => Number(word >> 32n))
const H_256 = Uint32Array.from(SQUARE_ROOTS, (word) => Number(word >> 32n))

function padded(bytes: Uint8Array, block: number): Uint8Array {
  const lengthBytes = block / 8
  const blocks = Math.ceil((bytes.length + 1 + lengthBytes) / block)
  const all = new Uint8Array(blocks * block)
  all.set(bytes)
  all[bytes.length] = 0x80
  new DataView(all.buffer).setBigUint64(all.length - 8, BigInt(bytes.length) * 8n)
  return all
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

export function sha256(bytes: Uint8Array): Uint8Array {
  const all = new DataView(padded(bytes, 64).buffer)
  const state = Uint32Array.from(H_256)
  const words = new Uint32Array(64)
  for (let at = 0; at < all.byteLength; at += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = all.getUint32(at + index * 4)
    extend(words)
    compress(state, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  state.forEach((word, index) => digest.setUint32(index * 4, word))
  return new Uint8Array(digest.buffer)
}

export const putSha256 = (bytes: Uint8Array, target: Uint8Array, from: number): void =>
  target.set(sha256(bytes), from)

export const sha256Hex = (bytes: Uint8Array): string => toHex(sha256(bytes))

function extend(words: Uint32Array): void {
  for (let index = 16; index < 64; index += 1) {
    const [a, b] = [words[index - 15] as number, words[index - 2] as number]
    const first = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3)
    const second = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10)
    words[index] = (words[index - 16] as number) + first + (words[index - 7] as number) + second
  }
}

function compress(state: Uint32Array, words: Uint32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let index = 0; index < 64; index += 1) {
    const first = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const choice = (e & f) ^ (~e & g)
    const one = (h + first + choice + (K_256[index] as number) + (words[index] as number)) | 0
    const second = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + second + majority) | 0]
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) {
    state[index] = (state[index] as number) + word
  }
}

const MASK = 0xffffffffffffffffn
const rotate64 = (word: bigint, by: bigint): bigint => ((word >> by) | (word << (64n - by))) & MASK

/** Only for what Ed25519 hashes: short messages. */
export function sha512(bytes: Uint8Array): Uint8Array {
  const all = new DataView(padded(bytes, 128).buffer)
  let state = SQUARE_ROOTS
  for (let at = 0; at < all.byteLength; at += 128) {
    const words = Array.from({ length: 16 }, (_, index) => all.getBigUint64(at + index * 8))
    for (let index = 16; index < 80; index += 1) {
      const [a, b] = [words[index - 15] as bigint, words[index - 2] as bigint]
      const first = rotate64(a, 1n) ^ rotate64(a, 8n) ^ (a >> 7n)
      const second = rotate64(b, 19n) ^ rotate64(b, 61n) ^ (b >> 6n)
      const sum = (words[index - 16] as bigint) + first + (words[index - 7] as bigint) + second
      words.push(sum & MASK)
    }
    state = compress512(state, words)
  }
  const digest = new DataView(new ArrayBuffer(64))
  state.forEach((word, index) => digest.setBigUint64(index * 8, word))
  return new Uint8Array(digest.buffer)
}

function compress512(state: readonly bigint[], words: readonly bigint[]): bigint[] {
  let [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n, g = 0n, h = 0n] = state
  for (const [index, word] of words.entries()) {
    const first = rotate64(e, 14n) ^ rotate64(e, 18n) ^ rotate64(e, 41n)
    const choice = (e & f) ^ (~e & MASK & g)
    const one = (h + first + choice + (CUBE_ROOTS[index] as bigint) + word) & MASK
    const second = rotate64(a, 28n) ^ rotate64(a, 34n) ^ rotate64(a, 39n)
    const two = second + ((a & b) ^ (a & c) ^ (b & c))
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + one) & MASK, c, b, a, (one + two) & MASK]
  }
  return [a, b, c, d, e, f, g, h].map((word, index) => (word + (state[index] as bigint)) & MASK)
}
