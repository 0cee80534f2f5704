// Money is integer millionths of a US dollar inside Baton; messages carry dollars. Exact up to 1e9
// dollars, which is what the schema allows.

/**
 * Whole micro-USD of an amount, halves rounded away from zero. Rounds the decimal number that the
 * double prints as, so 1.0000005 becomes 1000001 although the double lies a little below.
 */
export function microUSD(usd: number): number {
  const [digits = '0', exponent = '0'] = String(Math.abs(usd)).split('e')
  const micro = Math.round(Number(`${digits}e${Number(exponent) + 6}`))
  return usd < 0 && micro !== 0 ? -micro : micro
}

/** The amount in dollars that prints as the exact decimal. */
export function usdFromMicro(micro: number): number {
  return micro / 1_000_000
}
