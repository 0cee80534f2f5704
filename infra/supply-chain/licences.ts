// Which licences what is installed may have: those that ask for a notice at most, and one whose terms end at its own files.

const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  // Of its own files alone, which are used as they are.
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  // Its author gave up every right: a dedication to the public, which asks for nothing.
  'CC0-1.0',
])

/** Where a package says nothing that a program reads: what stands in its file LICENSE. */
const READ_BY_A_PERSON: Readonly<Record<string, string>> = {
  buildcheck: 'MIT',
  'cpu-features': 'MIT',
  ssh2: 'MIT',
}

interface Licensed {
  readonly name: string
  readonly licence: string | undefined
}

/** The expression that counts, or undefined where nobody knows it. */
export const licenceThatCounts = ({ name, licence }: Licensed): string | undefined =>
  READ_BY_A_PERSON[name] ?? licence

/** Whether all that an expression asks for is allowed: each side of AND, one side of OR. */
export function isAllowed(expression: string | undefined): boolean {
  if (expression === undefined) return false
  const bare = expression.replaceAll(/[()]/g, ' ')
  return bare
    .split(/\sAND\s/)
    .every((side) => side.split(/\sOR\s/).some((licence) => ALLOWED.has(licence.trim())))
}
