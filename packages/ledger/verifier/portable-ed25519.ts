// Ed25519 verification (RFC 8032 section 5.1.7) in whole numbers, for a page opened from a file.
import { concatBytes, toHex } from '../src/bytes.ts'
import { sha512 } from './portable-sha256.ts'

const P = 2n ** 255n - 19n
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

const mod = (value: bigint): bigint => ((value % P) + P) % P

function power(base: bigint, exponent: bigint): bigint {
  let [result, square, rest] = [1n, mod(base), exponent]
  while (rest > 0n) {
    if (rest % 2n === 1n) result = (result * square) % P
    square = (square * square) % P
    rest /= 2n
  }
  return result
}

const invert = (value: bigint): bigint => power(value, P - 2n)
const D = mod(-121665n * invert(121666n))
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n)

/** Extended coordinates: x = X/Z, y = Y/Z, x*y = T/Z. */
type Point = readonly [X: bigint, Y: bigint, Z: bigint, T: bigint]
const NEUTRAL: Point = [0n, 1n, 1n, 0n]

function add(left: Point, right: Point): Point {
  const a = mod((left[1] - left[0]) * (right[1] - right[0]))
  const b = mod((left[1] + left[0]) * (right[1] + right[0]))
  const c = mod(2n * left[3] * right[3] * D)
  const d = mod(2n * left[2] * right[2])
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}

function multiply(point: Point, scalar: bigint): Point {
  let [result, doubled, rest] = [NEUTRAL, point, scalar]
  while (rest > 0n) {
    if (rest % 2n === 1n) result = add(result, doubled)
    doubled = add(doubled, doubled)
    rest /= 2n
  }
  return result
}

const isSame = (left: Point, right: Point): boolean =>
  mod(left[0] * right[2] - right[0] * left[2]) === 0n &&
  mod(left[1] * right[2] - right[1] * left[2]) === 0n

const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${toHex(Uint8Array.from(bytes).reverse())}`)

/** Undefined for bytes that are no point of the curve, or another encoding of one. */
function decodePoint(bytes: Uint8Array): Point | undefined {
  const encoded = littleEndian(bytes)
  const y = encoded & (2n ** 255n - 1n)
  if (y >= P) return undefined
  const square = mod((y * y - 1n) * invert(D * y * y + 1n))
  let x = power(square, (P + 3n) / 8n)
  if (mod(x * x - square) !== 0n) x = mod(x * ROOT_OF_MINUS_ONE)
  const sign = encoded >> 255n
  if (mod(x * x - square) !== 0n || (x === 0n && sign === 1n)) return undefined
  if (x % 2n !== sign) x = P - x
  return [x, y, 1n, mod(x * y)]
}

const BASE = decodePoint(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 0x58 : 0x66)))

export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false
  const key = decodePoint(publicKey)
  const commitment = decodePoint(signature.subarray(0, 32))
  const scalar = littleEndian(signature.subarray(32))
  if (key === undefined || commitment === undefined || BASE === undefined) return false
  if (scalar >= ORDER) return false
  const digest = sha512(concatBytes([signature.subarray(0, 32), publicKey, message]))
  const challenge = littleEndian(digest) % ORDER
  return isSame(multiply(BASE, scalar), add(commitment, multiply(key, challenge)))
}
