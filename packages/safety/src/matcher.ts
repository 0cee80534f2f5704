// Finds the rules that hit a normalised text: literals first, then RE2 sets around them, spans only for what hit.
import { RE2JS, RE2Set } from 're2js'
import type { Literal } from './automaton.ts'
import { TRIGGERS } from './rules/triggers.ts'
import type { Rewrite } from './rules/triggers.ts'
import { RULE_GROUPS } from './rules/index.ts'
import type { Rule, RuleGroup } from './rules/rule.ts'
import { createPreFilter } from './pre-filter.ts'
import type { Triggers } from './pre-filter.ts'

/** A rule and where it hit, in offsets of the text it was matched against. */
export interface Hit {
  readonly rule: Rule
  readonly start: number
  readonly end: number
}

/** A hint that the text around `at` makes sense in another form. */
export interface Hint {
  readonly rewrite: Rewrite
  readonly at: number
}

export interface Matches {
  readonly hits: readonly Hit[]
  readonly hints: readonly Hint[]
  /** What the pass over the literals saw besides. */
  readonly triggers: Triggers
}

/** How much of a scan's work is left for locating spans; beyond it a hit spans its whole window. */
export interface LocateBudget {
  left: number
}

interface Window {
  start: number
  end: number
}

interface CompiledRule {
  readonly rule: Rule
  /** Finds where the rule hit; compiled when it hits for the first time. */
  readonly expression: () => RE2JS
}

interface CompiledGroup {
  readonly set: RE2Set
  readonly rules: readonly CompiledRule[]
}

const BEFORE_ANCHOR = 192
const AFTER_ANCHOR = 256
const WINDOW_MAX = 1024
const WINDOW_OVERLAP = 256
const HITS_PER_WINDOW = 4
const HINT_DISTANCE = 4096
const HINTS_MAX = 16
const FIRST_TRIGGER_BIT = 1 << RULE_GROUPS.length
const SET_MEMORY = 32 * 1024 * 1024

/** All rule hits and rewriting hints of a normalised text, in work linear in its length. */
export type Matcher = (text: string, budget: LocateBudget) => Matches

let compiled: Matcher | undefined

/** The matcher of the rule set, which never changes: compiled once per process (some tenths of a second), on first use. */
export const ruleMatcher = (): Matcher => (compiled ??= createMatcher())

function createMatcher(): Matcher {
  const groups = RULE_GROUPS.map(compileGroup)
  const preFilter = createPreFilter(listLiterals())
  return (text, budget) => {
    const windows = groups.map((): Window[] => [])
    const hints: Hint[] = []
    const triggers = preFilter(text, (end, bits) => {
      for (let index = 0; index < groups.length; index++) {
        if ((bits & (1 << index)) !== 0) widen(windows[index] ?? [], end, text)
      }
      if (bits >= FIRST_TRIGGER_BIT) addHints(hints, end, bits)
    })
    const hits: Hit[] = []
    for (const [index, group] of groups.entries()) {
      for (const window of windows[index] ?? []) matchWindow({ text, window, group, budget, hits })
    }
    return { hits, hints, triggers }
  }
}

function compileGroup(group: RuleGroup): CompiledGroup {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, SET_MEMORY)
  for (const rule of group.rules) set.add(rule.pattern)
  set.compile()
  return {
    set,
    rules: group.rules.map((rule) => ({ rule, expression: compiledOnce(rule) })),
  }
}

function compiledOnce({ pattern }: Rule): () => RE2JS {
  let compiled: RE2JS | undefined
  return () => (compiled ??= RE2JS.compile(pattern))
}

function listLiterals(): Literal[] {
  const bits = new Map<string, number>()
  const add = (text: string, bit: number) => bits.set(text, (bits.get(text) ?? 0) | (1 << bit))
  for (const [index, group] of RULE_GROUPS.entries())
    for (const anchor of group.anchors) add(anchor, index)
  for (const [index, trigger] of TRIGGERS.entries())
    for (const anchor of trigger.anchors) add(anchor, RULE_GROUPS.length + index)
  return Array.from(bits, ([text, flags]) => ({ text, bits: flags }))
}

/** Adds the surroundings of an anchor to the windows, which stay ordered and of bounded length. */
function widen(windows: Window[], end: number, text: string): void {
  const until = Math.min(text.length, end + AFTER_ANCHOR)
  const last = windows.at(-1)
  if (last !== undefined && end - BEFORE_ANCHOR <= last.end) {
    if (until - last.start <= WINDOW_MAX) {
      last.end = until
      return
    }
    if (until <= last.end) return
    windows.push({
      start: startOfWord(text, Math.max(last.end - WINDOW_OVERLAP, end - BEFORE_ANCHOR)),
      end: until,
    })
    return
  }
  windows.push({ start: startOfWord(text, end - BEFORE_ANCHOR), end: until })
}

/** Moves a start back to a nearby blank, so that a cut word is not taken for the begin of a text. */
function startOfWord(text: string, start: number): number {
  if (start <= 0) return 0
  for (let position = start; position > start - 48 && position > 0; position--) {
    if (text.charCodeAt(position) === 32) return position
  }
  return start
}

function addHints(hints: Hint[], at: number, bits: number): void {
  for (const [index, { rewrite }] of TRIGGERS.entries()) {
    if ((bits & (FIRST_TRIGGER_BIT << index)) === 0 || hints.length >= HINTS_MAX) continue
    const near = hints.some((hint) => hint.rewrite === rewrite && at - hint.at < HINT_DISTANCE)
    if (!near) hints.push({ rewrite, at })
  }
}

interface WindowMatch {
  readonly text: string
  readonly window: Window
  readonly group: CompiledGroup
  readonly budget: LocateBudget
  readonly hits: Hit[]
}

function matchWindow({ text, window, group, budget, hits }: WindowMatch): void {
  const part = text.slice(window.start, window.end)
  for (const index of group.set.match(part)) {
    const compiled = group.rules[index]
    if (compiled === undefined) continue
    if (budget.left <= 0) hits.push({ rule: compiled.rule, start: window.start, end: window.end })
    else hits.push(...locate(compiled, part, { offset: window.start, budget }))
  }
}

function locate(
  { rule, expression }: CompiledRule,
  part: string,
  where: { offset: number; budget: LocateBudget },
): Hit[] {
  const matcher = expression().matcher(part)
  const hits: Hit[] = []
  while (hits.length < HITS_PER_WINDOW && matcher.find()) {
    hits.push({ rule, start: where.offset + matcher.start(), end: where.offset + matcher.end() })
  }
  where.budget.left -= 1
  return hits.length > 0 ? hits : [{ rule, start: where.offset, end: where.offset + part.length }]
}
