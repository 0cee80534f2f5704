// Finds the rules that hit a normalised text: literals first, then each rule around them, spans only for what hit.
import { setImmediate } from 'node:timers/promises'
import { RE2JS, RE2Set } from 're2js'
import type { Literal } from './automaton.ts'
import { Hints } from './hints.ts'
import type { Hint } from './hints.ts'
import { TRIGGERS } from './rules/triggers.ts'
import { RULE_GROUPS } from './rules/index.ts'
import type { Rule } from './rules/rule.ts'
import { createPreFilter } from './pre-filter.ts'
import type { Triggers } from './pre-filter.ts'
import { WORK_OF } from './work.ts'
import type { Work } from './work.ts'

/** A rule and where it hit, in offsets of the text it was matched against. */
export interface Hit {
  readonly rule: Rule
  readonly start: number
  readonly end: number
  /** The hit is exactly there; else it, and perhaps more of them, is somewhere between. */
  readonly located: boolean
}

export interface Matches {
  readonly hits: readonly Hit[]
  readonly hints: readonly Hint[]
  /** What the pass over the literals saw besides. */
  readonly triggers: Triggers
}

/** What one matching may cost, and what was spent. */
export interface MatchAccount {
  readonly work: Work
  /** How deep in the message the text was hidden; 0 is the message itself. */
  readonly depth: number
  /** Whether nobody waits for the answer any more. */
  readonly isOver: () => boolean
  /** How often more may be searched for the places of hits; beyond it a hit spans its whole window. */
  readonly locates: { left: number }
}

interface Window {
  start: number
  end: number
}

interface CompiledRule {
  readonly rule: Rule
  /** Says whether the rule hits; compiled when one of its group's literals occurs for the first time. */
  readonly test: () => RE2Set
  /** Finds where the rule hit; compiled when it hits for the first time. */
  readonly expression: () => RE2JS
}

const BEFORE_ANCHOR = 192
const AFTER_ANCHOR = 256
const WINDOW_MAX = 1024
const WINDOW_OVERLAP = 256
const HITS_PER_WINDOW = 16
const FIRST_TRIGGER = RULE_GROUPS.length
/** Bytes of the automaton of one rule, which grows by what it meets. Small ones of one rule each grow far less than one of many. */
const AUTOMATON_MEMORY = 4 * 1024 * 1024

/** All rule hits and rewriting hints of a normalised text, in work linear in its length. */
export type Matcher = (text: string, account: MatchAccount) => Matches

let compiled: Matcher | undefined

/** The matcher of the rule set, which never changes: made once per process, on first use. */
export const ruleMatcher = (): Matcher => (compiled ??= createMatcher())

const GROUPS = RULE_GROUPS.map(({ rules }) => rules.map(lazyRule))

/** Compiles all that a match may need, some tenths of a second, a rule in each turn of the event loop. */
export async function compileRules(): Promise<void> {
  ruleMatcher()
  for (const { test } of GROUPS.flat()) {
    await setImmediate()
    test()
  }
}

function createMatcher(): Matcher {
  const preFilter = createPreFilter(listLiterals())
  return (text, account) => {
    const windows = GROUPS.map((): Window[] => [])
    const hints = new Hints(text)
    const triggers = preFilter(text, (end, bits) => {
      for (let index = 0; index < GROUPS.length; index++) {
        if ((bits & (1 << index)) !== 0) widen(windows[index] ?? [], end, text)
      }
      if (bits >> FIRST_TRIGGER !== 0) hints.add(end, bits >> FIRST_TRIGGER)
    })
    const trials = GROUPS.flatMap((rules, index) =>
      (windows[index] ?? []).flatMap((window) => trialsIn(window, rules, text)),
    )
    const hits = mayMatch(trials, account)
      ? trials.flatMap((trial) => (account.isOver() ? [] : matchRule(trial, account)))
      : []
    return { hits, hints: hints.all, triggers }
  }
}

/** One rule tried in one window. */
interface Trial {
  readonly compiled: CompiledRule
  readonly part: string
  /** Where the part begins. */
  readonly offset: number
}

/** The rules that may hit there: each match of theirs contains what they need. */
function trialsIn({ start, end }: Window, rules: readonly CompiledRule[], text: string): Trial[] {
  const part = text.slice(start, end)
  return rules
    .filter(({ rule }) => hasNeeds(rule, part))
    .map((compiled) => ({ compiled, part, offset: start }))
}

const hasNeeds = ({ needs = [] }: Rule, part: string): boolean =>
  needs.every((literals) => literals.some((literal) => part.includes(literal)))

/** The text of a message is always matched; a form of it only where that may still be spent. */
function mayMatch(trials: readonly Trial[], { work, depth }: MatchAccount): boolean {
  const cost = WORK_OF.matched * trials.reduce((sum, { part }) => sum + part.length, 0)
  if (depth > 0 && !work.allows(cost)) return false
  work.spend(cost, depth)
  return true
}

function lazyRule(rule: Rule): CompiledRule {
  return {
    rule,
    test: once(() => compileTest(rule)),
    expression: once(() => RE2JS.compile(rule.pattern)),
  }
}

/** A set of one, since only a set's memory can be bounded. */
function compileTest({ pattern }: Rule): RE2Set {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, AUTOMATON_MEMORY)
  set.add(pattern)
  set.compile()
  return set
}

function once<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
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

function matchRule(trial: Trial, account: MatchAccount): Hit[] {
  const { compiled, part, offset } = trial
  if (compiled.test().match(part).length === 0) return []
  if (account.locates.left > 0) return locate(trial, account)
  return [{ rule: compiled.rule, start: offset, end: offset + part.length, located: false }]
}

function locate({ compiled, part, offset }: Trial, account: MatchAccount): Hit[] {
  const { rule, expression } = compiled
  account.locates.left -= 1
  account.work.spend(WORK_OF.located * part.length, account.depth)
  const matcher = expression().matcher(part)
  const hits: Hit[] = []
  while (matcher.find()) {
    const start = offset + matcher.start()
    if (hits.length === HITS_PER_WINDOW) {
      hits.push({ rule, start, end: offset + part.length, located: false })
      return hits
    }
    hits.push({ rule, start, end: offset + matcher.end(), located: true })
  }
  if (hits.length > 0) return hits
  return [{ rule, start: offset, end: offset + part.length, located: false }]
}
