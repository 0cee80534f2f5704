// Reads a text in every form it may hide in, within fixed bounds, and collects the rule hits with their original place.
import { decodeCodeLists } from './code-lists.ts'
import { decodeRuns, joinBroken } from './decoders.ts'
import { decodeEscapes, ESCAPES_MIN } from './escapes.ts'
import type { Hint } from './hints.ts'
import type { Hit, Matcher } from './matcher.ts'
import { opinionOn } from './model/model.ts'
import type { Model } from './model/model.ts'
import { normalise } from './normalise.ts'
import type { HiddenText } from './normalise.ts'
import { isQuoted } from './quotation.ts'
import { joinLetters, joinSpaced, rewrite } from './rewrites.ts'
import { HIDDEN_CHARACTERS, HIDDEN_TEXT, UNEXPLAINED_MIN } from './rules/hidden.ts'
import type { Rule } from './rules/rule.ts'
import { composeMaps, identityMap, joinDerived } from './span-map.ts'
import type { Derived, Span, SpanMap } from './span-map.ts'
import type { Triggers } from './pre-filter.ts'
import { SpanSet } from './spans.ts'
import { Work, WORK_OF } from './work.ts'

/** A form may be decoded out of another one, but not deeper: what is deeper is said to be unread. */
const DEPTH_MAX = 3
/** How often the place of a hit is searched for; what hits beyond that is never taken for a quotation. */
const LOCATES_MAX = 24

/** A rule hit at its place in the text that was given. */
export interface ViewHit {
  readonly rule: Rule
  readonly view: string
  readonly span: Span
  readonly quoted: boolean
  /** Where the n-grams stand that speak for an opinion of the model. */
  readonly reasons?: readonly Span[]
}

export interface Reading {
  readonly hits: readonly ViewHit[]
  readonly views: number
  readonly units: number
  readonly work: number
  readonly incomplete: boolean
}

interface View {
  readonly name: string
  readonly text: string
  readonly map: SpanMap
  readonly depth: number
}

/** What judges each form of a text. */
export interface Judges {
  readonly matcher: Matcher
  /** Null where rules judge alone. */
  readonly model: Model | null
}

/**
 * Reads a text and everything derived from it. The text is read to its end, in work linear in it; what is hidden in it is read as
 * far as its work is allowed (`work.ts`), and a reading that left anything says so.
 */
export function readText(text: string, judges: Judges): Reading
/** Undefined where it took longer than that: it looks at the clock between forms and between rules. */
export function readText(text: string, judges: Judges, msMax: number): Reading | undefined
export function readText(text: string, judges: Judges, msMax = Infinity): Reading | undefined {
  const reader = new Reader(judges, { length: text.length, msMax })
  reader.read({ name: '', text, map: identityMap, depth: 0 })
  return reader.gaveUp ? undefined : reader.reading()
}

class Reader {
  readonly #hits: ViewHit[] = []
  readonly #known = new Map<Rule, { readonly located: SpanSet; readonly others: SpanSet }>()
  readonly #locates = { left: LOCATES_MAX }
  readonly #matcher: Matcher
  readonly #model: Model | null
  readonly #work: Work
  readonly #endsAt: number
  gaveUp = false
  #views = 0
  #units = 0

  constructor(
    { matcher, model }: Judges,
    { length, msMax }: { readonly length: number; readonly msMax: number },
  ) {
    this.#matcher = matcher
    this.#model = model
    this.#work = new Work(length)
    this.#endsAt = performance.now() + msMax
  }

  readonly #isOver = (): boolean => (this.gaveUp ||= performance.now() > this.#endsAt)

  reading(): Reading {
    const { spent, incomplete } = this.#work
    return { hits: this.#hits, views: this.#views, units: this.#units, work: spent, incomplete }
  }

  read(root: View): void {
    let level: View[] = [root]
    while (level.length > 0) level = level.flatMap((view) => this.#readOne(view))
  }

  #readOne(view: View): View[] {
    const { depth } = view
    if (this.#isOver()) return []
    if (depth > 0 && !this.#work.allows(view.text.length * WORK_OF.read)) return []
    this.#work.spend(view.text.length * WORK_OF.read, depth)
    this.#views += 1
    this.#units += view.text.length
    const normalised = normalise(view.text)
    const toRoot = composeMaps(normalised.map, view.map)
    const account = { work: this.#work, depth, isOver: this.#isOver, locates: this.#locates }
    const { hits, hints, triggers } = this.#matcher(normalised.text, account)
    for (const hit of hits) this.#add(hit, { view, map: toRoot, text: normalised.text })
    this.#weigh(normalised.text, view, toRoot)
    for (const hidden of normalised.hidden) this.#addHidden(HIDDEN_TEXT, hidden.span, view)
    if (normalised.unexplained.count >= UNEXPLAINED_MIN) {
      this.#addHidden(HIDDEN_CHARACTERS, normalised.unexplained.span, view)
    }
    const inSource = hiddenTexts(normalised.hidden)
    const inCopy = decode(normalised.cased, triggers)
    if (depth >= DEPTH_MAX) {
      if (inSource.length + inCopy.length > 0) this.#work.incomplete = true
      return []
    }
    inCopy.push(...hints.flatMap((hint) => this.#rewrite(normalised.cased, hint)))
    if (triggers.spaced) inCopy.push(...joinSpaced(normalised.cased))
    if (triggers.joined) inCopy.push(...joinLetters(normalised.text))
    return [
      ...inSource.map((derived) => below(view, derived, view.map)),
      ...inCopy.map((derived) => below(view, derived, toRoot)),
    ]
  }

  #weigh(text: string, { name, depth }: View, map: SpanMap): void {
    const cost = text.length * WORK_OF.weighed
    if (this.#model === null || (depth > 0 && !this.#work.allows(cost))) return
    this.#work.spend(cost, depth)
    const opinion = opinionOn(text, this.#model)
    if (opinion === undefined) return
    const { rule, start, end, reasons } = opinion
    this.#hits.push({
      rule,
      view: name === '' ? 'raw' : name,
      span: map(start, end),
      quoted: false,
      reasons: reasons.map((reason) => map(reason.start, reason.end)),
    })
  }

  /** A text can ask for many forms of itself, so each is paid for before it is made. */
  #rewrite(text: string, hint: Hint): Derived[] {
    const length = hint.around.reduce((sum, [start, end]) => sum + end - start, 0)
    return this.#work.allows(length * WORK_OF.read) ? rewrite(text, hint) : []
  }

  #add(hit: Hit, where: { view: View; map: SpanMap; text: string }): void {
    const { rule, start, end, located } = hit
    const { depth, name } = where.view
    const span = where.map(start, end)
    if (!this.#isNew(hit, span)) return
    const quoted =
      rule.effect === 'suspect' && located && depth === 0 && isQuoted(where.text, start, end)
    this.#hits.push({ rule, view: name === '' ? 'raw' : name, span, quoted })
  }

  /** Whether the rule has not hit this place before. A hit without a place of its own is not the one that was found beside it. */
  #isNew({ rule, located }: Hit, span: Span): boolean {
    const known = this.#known.get(rule) ?? { located: new SpanSet(), others: new SpanSet() }
    this.#known.set(rule, known)
    return (located ? known.located : known.others).add(span)
  }

  #addHidden(rule: Rule, hidden: Span, view: View): void {
    const name = view.name === '' ? 'raw' : view.name
    this.#hits.push({ rule, view: name, span: view.map(...hidden), quoted: false })
  }
}

/** All decodings of a match copy in its own case that give readable text. */
function decode(text: string, triggers: Triggers): Derived[] {
  return [
    ...(triggers.runs.length > 0 ? decodeRuns(text, triggers.runs) : []),
    ...(triggers.escapes >= ESCAPES_MIN ? decodeEscapes(text) : []),
    ...(triggers.codes ? decodeCodeLists(text) : []),
    ...(triggers.broken ? joinBroken(text) : []),
  ]
}

function hiddenTexts(hidden: readonly HiddenText[]): Derived[] {
  return (['tags', 'selectors'] as const).flatMap((kind) =>
    joinDerived(
      kind,
      hidden
        .filter((one) => one.kind === kind)
        .map(({ text, span }) => ({ kind, text, map: () => span })),
    ),
  )
}

function below(parent: View, derived: Derived, map: SpanMap): View {
  return {
    name: parent.name === '' ? derived.kind : `${parent.name}>${derived.kind}`,
    text: derived.text,
    map: composeMaps(derived.map, map),
    depth: parent.depth + 1,
  }
}
