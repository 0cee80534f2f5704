// Reads a text in every form it may hide in, within fixed bounds, and collects the rule hits with their original place.
import { decodeRuns } from './decoders.ts'
import { decodeEscapes, ESCAPES_MIN } from './escapes.ts'
import type { Hit, LocateBudget, Matcher } from './matcher.ts'
import { normalise } from './normalise.ts'
import type { HiddenText, Normalised } from './normalise.ts'
import { isQuoted } from './quotation.ts'
import { joinLetters, joinSpaced, rewriteAt } from './rewrites.ts'
import { HIDDEN_CHARACTERS, HIDDEN_TEXT, UNEXPLAINED_MIN } from './rules/hidden.ts'
import type { Rule } from './rules/rule.ts'
import { composeMaps, identityMap } from './span-map.ts'
import type { Derived, Span, SpanMap } from './span-map.ts'
import type { Triggers } from './pre-filter.ts'

/** Most derived forms read per message, over all depths. */
export const VIEWS_MAX = 16
/** A form may be decoded out of another one, but not deeper. */
const DEPTH_MAX = 2
const LOCATES_MAX = 24
const RECENT_HITS = 32

/** A rule hit at its place in the text that was given. */
export interface ViewHit {
  readonly rule: Rule
  readonly view: string
  readonly span: Span
  readonly quoted: boolean
}

export interface Reading {
  readonly hits: readonly ViewHit[]
  readonly views: number
  readonly units: number
}

interface View {
  readonly name: string
  readonly text: string
  readonly map: SpanMap
  readonly depth: number
}

/** Reads a text and everything derived from it. Work is linear in the text: derived forms are few and short. */
export function readText(text: string, matcher: Matcher): Reading {
  const reader = new Reader(matcher)
  reader.read({ name: '', text, map: identityMap, depth: 0 })
  return reader.reading()
}

class Reader {
  readonly #hits: ViewHit[] = []
  readonly #budget: LocateBudget = { left: LOCATES_MAX }
  readonly #matcher: Matcher
  #views = 0
  #units = 0

  constructor(matcher: Matcher) {
    this.#matcher = matcher
  }

  reading(): Reading {
    return { hits: this.#hits, views: this.#views, units: this.#units }
  }

  read(root: View): void {
    let level: View[] = [root]
    while (level.length > 0) level = level.flatMap((view) => this.#readOne(view))
  }

  #readOne(view: View): View[] {
    if (this.#views > VIEWS_MAX) return []
    this.#views += 1
    this.#units += view.text.length
    const normalised = normalise(view.text)
    const toRoot = composeMaps(normalised.map, view.map)
    const { hits, hints, triggers } = this.#matcher(normalised.text, this.#budget)
    for (const hit of hits) this.#add(hit, { view, map: toRoot, text: normalised.text })
    for (const hidden of normalised.hidden) this.#addHidden(HIDDEN_TEXT, hidden.span, view)
    if (normalised.unexplained.count >= UNEXPLAINED_MIN) {
      this.#addHidden(HIDDEN_CHARACTERS, normalised.unexplained.span, view)
    }
    if (view.depth >= DEPTH_MAX) return []
    const room = VIEWS_MAX - this.#views
    const inSource = [
      ...normalised.hidden.map(hiddenText),
      ...decode(view.text, { normalised, triggers, room }),
    ]
    const inCopy = hints.flatMap((hint) => rewriteAt(normalised.text, hint))
    if (triggers.spaced) inCopy.push(...joinSpaced(normalised.text, room))
    if (triggers.joined && view.depth === 0) inCopy.push(...joinLetters(normalised.text, room))
    return [
      ...inSource.map((derived) => below(view, derived, view.map)),
      ...inCopy.map((derived) => below(view, derived, toRoot)),
    ]
  }

  #add({ rule, start, end }: Hit, where: { view: View; map: SpanMap; text: string }): void {
    const span = where.map(start, end)
    if (this.#isKnown(rule, span, where.view.depth)) return
    const quoted =
      rule.effect === 'suspect' && where.view.depth === 0 && isQuoted(where.text, start, end)
    this.#hits.push({ rule, view: where.view.name === '' ? 'raw' : where.view.name, span, quoted })
  }

  /** Whether the same rule hit the same place before; hits of the text itself come in order, so the last few suffice. */
  #isKnown(rule: Rule, span: Span, depth: number): boolean {
    const first = depth === 0 ? Math.max(0, this.#hits.length - RECENT_HITS) : 0
    for (let index = this.#hits.length - 1; index >= first; index--) {
      const hit = this.#hits[index]
      if (hit?.rule === rule && hit.span[0] < span[1] && span[0] < hit.span[1]) return true
    }
    return false
  }

  #addHidden(rule: Rule, hidden: Span, view: View): void {
    const name = view.name === '' ? 'raw' : view.name
    this.#hits.push({ rule, view: name, span: view.map(...hidden), quoted: false })
  }
}

interface Decoding {
  readonly normalised: Normalised
  readonly triggers: Triggers
  readonly room: number
}

/**
 * All decodings of a source text that give readable text. The triggers were read off the match copy, which keeps every ASCII
 * character of the source: a run there lies inside a run of the copy, and the copy has no fewer escapes.
 */
function decode(source: string, { normalised, triggers, room }: Decoding): Derived[] {
  const parts = triggers.runs.map((run) => normalised.map(...run))
  const derived = parts.length > 0 ? decodeRuns(source, parts, room) : []
  if (triggers.escapes >= ESCAPES_MIN) derived.push(...decodeEscapes(source, room - derived.length))
  return derived
}

function hiddenText({ kind, text, span }: HiddenText): Derived {
  return { kind, text, map: () => span }
}

function below(parent: View, derived: Derived, map: SpanMap): View {
  return {
    name: parent.name === '' ? derived.kind : `${parent.name}>${derived.kind}`,
    text: derived.text,
    map: composeMaps(derived.map, map),
    depth: parent.depth + 1,
  }
}
