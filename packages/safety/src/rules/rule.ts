// The shape of a rule and the small notation in which patterns are written.

/**
 * What a rule may cause beside a flag, to which the weight of each adds. `reject`: alone enough where its weight reaches what the
 * kind of field asks for (class R). `suspect`: rejects only beside another (class S). `note`: never rejects, nor helps to.
 */
export type RuleEffect = 'reject' | 'suspect' | 'note'

export interface Rule {
  readonly id: string
  readonly category: string
  readonly effect: RuleEffect
  /** 0 to 1; see the thresholds in `decision.ts`. */
  readonly weight: number
  /** RE2 syntax over normalised text (lower case, folded). */
  readonly pattern: string
  /** Each match contains one literal of every list at least; where one is missing, the pattern is not tried. Changes no decision. */
  readonly needs?: readonly (readonly string[])[]
}

/** Rules that are tried together, and only around one of these literals: a wording without one is not found, whatever the patterns say. */
export interface RuleGroup {
  readonly id: string
  readonly anchors: readonly string[]
  readonly rules: readonly Rule[]
}

/** Anything that separates words, or nothing at all, so that joined words and odd punctuation are read alike. */
const GAP =
  String.raw`[\s!-/:-@\[-` + '`' + String.raw`{-~\x{a0}-\x{bf}\x{2000}-\x{206f}\x{3000}-\x{303f}]*`

/** Up to `max` arbitrary words, each followed by a separator. */
export function words(max: number): string {
  return String.raw`(?:[\w'’]+[\s,:;"'(-]+){0,${max}}`
}

const ESCAPE_OR_CLASS_OR_SPACE = /\\.|\[(?:\\.|[^\]\\])*\]| /gsu

/** In a pattern a space outside a character class stands for a gap; line breaks of the template are removed. */
export function pattern(source: string): string {
  return source
    .replaceAll(/\n\s*/gu, '')
    .replaceAll(ESCAPE_OR_CLASS_OR_SPACE, (part) => (part === ' ' ? GAP : part))
}

/** One of several words or phrases, written with `|`. */
export function oneOf(source: string): string {
  return `(?:${source.replaceAll(/\s*\n\s*/gu, '')})`
}

/** Every first part with every second part; both are lists written with `|`. */
export function combine(firsts: string, seconds: string): string[] {
  return list(firsts).flatMap((first) => list(seconds).map((second) => first + second))
}

/** A list written with `|`. */
export function list(source: string): string[] {
  return source.split('|')
}
