// UUIDs in their one form, lower-case: as text, as 16 bytes, and made from a digest.

/** Any version. */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const VARIANT_AT = 16

/** The UUIDv8 that stands on the first 32 digits of a digest in hex, all but version and variant. */
export function uuidOfDigest(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(VARIANT_AT), 16) & 0x3) | 0x8).toString(16)
  return uuidOfHex(`${hex.slice(0, 12)}8${hex.slice(13, VARIANT_AT)}${variant}${hex.slice(17, 32)}`)
}

/** The text of 32 hex digits. */
export const uuidOfHex = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`

export const formatUuid = (bytes: Uint8Array): string =>
  uuidOfHex(Buffer.from(bytes).toString('hex'))

export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')
