// The override rule in languages other than English, and what is ordered behind it.
import { SPACED } from './grammar.ts'
import type { Grammar } from './grammar.ts'
import { ASIAN_GRAMMARS } from './grammars-asian.ts'
import { EUROPEAN_GRAMMARS } from './grammars-european.ts'
import { ORDERS_ANY_LANGUAGE } from './orders-any-language.ts'
import { list, oneOf } from './rule.ts'
import type { Rule, RuleGroup } from './rule.ts'

const GRAMMARS = [...EUROPEAN_GRAMMARS, ...ASIAN_GRAMMARS]
const LATIN = /^[a-z]/u

function overrideIn(grammar: Grammar): Rule {
  const edge = grammar.between === SPACED && LATIN.test(grammar.drop) ? String.raw`\b` : ''
  const [drop, orders, earlier] = [grammar.drop, grammar.orders, grammar.earlier].map(
    (part) => edge + oneOf(part) + edge,
  )
  const { between } = grammar
  const named = `(?:${earlier}${between}${orders}|${orders}${between}${earlier}${grammar.told === undefined ? '' : `|${grammar.told}`})`
  const pattern = grammar.verbLast ? `${named}${between}${drop}` : `${drop}${between}${named}`
  return {
    id: `override-${grammar.language}`,
    category: 'override',
    effect: 'suspect',
    weight: 0.5,
    needs: [['ignor', ...list(grammar.anchors)], beginningsOf([grammar.orders, grammar.told])],
    pattern,
  }
}

/** The literals that the alternatives of some patterns begin with. */
function beginningsOf(patterns: readonly (string | undefined)[]): string[] {
  const alternatives = patterns.flatMap((one) =>
    one === undefined ? [] : list(one.replaceAll(/\(\?:[^()]*\)/gu, '(')),
  )
  return alternatives.map((one) => /^[^([\\?]+(?!\?)/u.exec(one)?.[0] ?? '')
}

/** The alternatives between two edges of words. */
function wordsOf(pattern: string): string {
  return /^\\b\(\?:(?<words>.*)\)\\b$/u.exec(pattern)?.groups?.['words'] ?? pattern
}

const REVEAL_ANCHORS = [
  'system prompt',
  'systemprompt',
  'prompt de',
  'prompt di',
  'prompt do',
  'invite ',
  'systemauf',
  'промпт',
  'istemi',
  '提示',
  'プロンプト',
  '프롬프트',
  'موجه',
]

/** Asking for the prompt, in languages that commonly borrow the word. */
const REVEAL: Rule = {
  id: 'reveal-any-language',
  category: 'extraction',
  effect: 'suspect',
  weight: 0.5,
  pattern: oneOf(
    `(?:revel[ae]|muestra(?:me)?|dime|mostre|revele|montre|affiche|donne|divulgue|mostra(?:mi)?|rivela|zeige?|verrate|gib|toon|onthul|pokaz|ujawnij|покажи(?:те)?|раскрои(?:те)?|выведи(?:те)?|goster|tampilkan|ungkapkan|显示|显露|透露|輸出|输出|告诉我|表示|教えて|알려|보여|اكشف|اعرض|أظهر)[^.!?。\\n]*
(?:system ?prompt|prompt (?:del |do |de )?sistema|invite (?:du )?systeme|prompt di sistema|systemprompt|systemaufforderung|системн(?:ыи|ого) промпт|sistem istemi|系统提示|系統提示|システムプロンプト|시스템 프롬프트|موجه النظام)`,
  ),
}

/** Stems of the verbs that set orders aside. */
const DROP_ANCHORS = ['ignor', ...GRAMMARS.flatMap((grammar) => list(grammar.anchors))]

/** An order behind such a verb: beside the override itself it is a second sign. */
const ORDER: Rule = {
  id: 'order-any-language',
  category: 'override',
  effect: 'suspect',
  weight: 0.4,
  // Of so many words in so many languages an automaton grows with nearly every text of another one.
  needs: [DROP_ANCHORS, beginningsOf(ORDERS_ANY_LANGUAGE.map(wordsOf))],
  pattern: `(?:${DROP_ANCHORS.join('|')})[^\\n]*(?:${ORDERS_ANY_LANGUAGE.join('|')})`,
}

export const LANGUAGES: RuleGroup = {
  id: 'languages',
  anchors: [...DROP_ANCHORS, ...REVEAL_ANCHORS],
  rules: [...GRAMMARS.map(overrideIn), ORDER, REVEAL],
}
