// A tar with one possible byte form per content, so that any other byte in it is noticed and placed.
import { concatBytes, encodeUtf8, equalBytes } from '../bytes.ts'

export interface TarFile {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Something about the container itself that `writeTar` would not have written. */
export interface TarFault {
  /** The file whose header or padding it is; `(byte N)` where no file is named. */
  readonly name: string
  readonly message: string
}

export interface TarReading {
  readonly files: readonly TarFile[]
  readonly faults: readonly TarFault[]
}

const BLOCK = 512
const NAME_MAX = 100
const END = new Uint8Array(2 * BLOCK)

/** POSIX ustar: mode 0644, no owner, the epoch as time, zero padding, two zero blocks at the end. */
export function writeTar(files: readonly TarFile[]): Uint8Array {
  const parts = files.flatMap(({ name, bytes }) => {
    return [headerOf(name, bytes.length), bytes, new Uint8Array(paddingOf(bytes.length))]
  })
  return concatBytes([...parts, END])
}

const paddingOf = (length: number): number => (BLOCK - (length % BLOCK)) % BLOCK

function headerOf(name: string, length: number): Uint8Array {
  const header = new Uint8Array(BLOCK)
  const put = (text: string, at: number): void => header.set(encodeUtf8(text), at)
  put(name, 0)
  put('0000644\0', 100)
  put('0000000\0', 108)
  put('0000000\0', 116)
  put(`${length.toString(8).padStart(11, '0')}\0`, 124)
  put('00000000000\0', 136)
  put('        ', 148)
  put('0', 156)
  put('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/**
 * Reads as far as names and lengths can be made out, and lists every difference from what
 * `writeTar` writes. Never throws; files of a faulty container may be wrong or missing.
 */
export function readTar(bytes: Uint8Array): TarReading {
  const files: TarFile[] = []
  const faults: TarFault[] = []
  let at = 0
  while (at + BLOCK <= bytes.length) {
    const header = bytes.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) break
    const name = readField(header, 0, NAME_MAX) || placeAt(at)
    const digits = readField(header, 124, 11)
    const length = /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : Infinity
    const end = at + BLOCK + length
    if (end > bytes.length) {
      faults.push({ name, message: 'the header gives a length that the container does not have' })
      return { files, faults }
    }
    if (!equalBytes(header, headerOf(name, length))) {
      faults.push({ name, message: 'the header is not the one that this name and length have' })
    }
    const next = end + paddingOf(length)
    if (bytes.subarray(end, next).some((byte) => byte !== 0)) {
      faults.push({ name, message: 'the padding after the file is not zero' })
    }
    files.push({ name, bytes: bytes.subarray(at + BLOCK, end) })
    at = next
  }
  if (!equalBytes(bytes.subarray(at), END)) {
    faults.push({ name: placeAt(at), message: 'the container does not end in two zero blocks' })
  }
  return { files, faults }
}

const placeAt = (at: number): string => `(byte ${at})`

// Latin-1, so that any bytes make a name that is only compared.
function readField(header: Uint8Array, at: number, length: number): string {
  const field = header.subarray(at, at + length)
  const end = field.indexOf(0)
  return String.fromCharCode(...(end < 0 ? field : field.subarray(0, end)))
}
