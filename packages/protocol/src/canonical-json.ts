// One value has exactly one byte form: RFC 8785, strict about what may be encoded at all.
import canonicalize from 'canonicalize'
import { ProtocolError } from './detail.ts'
import type { JsonValue } from './json.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import { copyStrict } from './strict-value.ts'

/**
 * The RFC 8785 text of a value. Refuses what JSON cannot say (NaN, lone surrogates, class
 * instances, cycles, `__proto__`) and what exceeds the limits, instead of changing it silently;
 * members that are undefined are absent. Throws ProtocolError BATON_NOT_CANONICAL.
 */
export function canonicalJson(value: unknown, limits: Limits = DEFAULT_LIMITS): string {
  const copy = copyStrict(value, limits)
  if (!copy.ok) throw new ProtocolError('BATON_NOT_CANONICAL', [copy.detail])
  return sortedJson(copy.value, copy.integerKeys)
}

/**
 * RFC 8785 is defined as what JSON.stringify writes, with sorted keys. The copy is sorted already,
 * except that JavaScript objects put integer-like keys first; those few values take the long way.
 */
function sortedJson(value: JsonValue, integerKeys: boolean): string {
  return integerKeys ? String(canonicalize(value)) : JSON.stringify(value)
}

/** The RFC 8785 form as UTF-8. Throws as canonicalJson does, and beyond `bytesMax`. */
export function canonicalBytes(value: unknown, limits: Limits = DEFAULT_LIMITS): Uint8Array {
  const bytes = Buffer.from(canonicalJson(value, limits), 'utf8')
  if (bytes.length <= limits.bytesMax) return bytes
  throw new ProtocolError('BATON_NOT_CANONICAL', [
    {
      pointer: '',
      rule: 'bytesMax',
      message: `the value takes ${bytes.length} bytes; ${limits.bytesMax} are allowed`,
      fix: 'Send less, or a reference to the data.',
    },
  ])
}
