// Which name somebody meant who wrote one that there is not.

const NAMES_MAX = 3
/** Of the letters of a name, so many may be wrong; another name is then still another name. */
const SHARE_MAX = 0.4

/** Those with the fewest mistakes, at most three; none where nothing is near. */
export function nearestNames(text: string, names: readonly string[]): readonly string[] {
  const near = names
    .map((name) => ({ name, mistakes: mistakesBetween(text.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, mistakes }) => mistakes <= SHARE_MAX * Math.max(name.length, text.length))
    .toSorted((one, other) => one.mistakes - other.mistakes)
  const fewest = near[0]?.mistakes ?? 0
  return near
    .filter(({ mistakes }) => mistakes === fewest)
    .slice(0, NAMES_MAX)
    .map(({ name }) => name)
}

/** The distance of Damerau and Levenshtein, in which no letter is changed twice. */
export function mistakesBetween(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isTurned = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      next[column] = Math.min(
        (last[column] ?? Infinity) + 1,
        (next[column - 1] ?? Infinity) + 1,
        (last[column - 1] ?? Infinity) + (isSame ? 0 : 1),
        isTurned ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      )
    }
    beforeLast = last
    last = next
  }
  return last[other.length] ?? Infinity
}
