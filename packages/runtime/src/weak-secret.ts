// What no secret may be: short, or a text that somebody would try. Secrets are made by machines, so nothing here hurts one.

const CHARACTERS_MIN = 32
/** Random hexadecimal digits have this few different ones in so many places once in hundreds of millions of secrets. */
const PLACES = 24
const DIFFERENT_MIN = 6
const PLACEHOLDER = /change[-_ ]?me|replace[-_ ]?me|placeholder|<[^>]*>/i

/** Why a secret is refused, or undefined where it is strong enough; never shows any of it. */
export function weaknessOf(secret: string): string | undefined {
  if (secret.length < CHARACTERS_MIN) return `expected at least ${CHARACTERS_MIN} characters`
  const isGuessable =
    PLACEHOLDER.test(secret) ||
    isMonotonous(secret) ||
    isOneTextAgainAndAgain(secret) ||
    isAlphabet(secret)
  return isGuessable ? 'expected random characters, not a text that can be guessed' : undefined
}

const isMonotonous = (secret: string): boolean =>
  Array.from({ length: secret.length - PLACES + 1 }, (_, start) =>
    secret.slice(start, start + PLACES),
  ).some((part) => new Set(part).size < DIFFERENT_MIN)

/** A text that repeats a shorter one stands within itself, doubled, before its own end. */
const isOneTextAgainAndAgain = (secret: string): boolean =>
  (secret + secret).indexOf(secret, 1) < secret.length

function isAlphabet(secret: string): boolean {
  const steps = [...secret].slice(1).filter((character, index) => {
    const step = character.charCodeAt(0) - secret.charCodeAt(index)
    return Math.abs(step) === 1
  })
  return steps.length > secret.length / 2
}
