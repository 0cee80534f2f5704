// Names the rules, the normaliser and the Unicode tables that a verdict was made with.
import { createHash } from 'node:crypto'
import { NORMALISER_VERSION } from './characters.ts'
import { NEARBY, QUOTED_SHARE, THRESHOLDS } from './decision.ts'
import { GATES, JOINED_ANCHORS } from './rules/gates.ts'
import { HIDDEN_CHARACTERS, HIDDEN_TEXT, UNEXPLAINED_MIN } from './rules/hidden.ts'
import { RULE_GROUPS } from './rules/index.ts'

/** SHA-256 (hex) over everything that decides; the property order below is part of the canonical form. */
export function computeArtefactId(): string {
  const artefact = {
    schema: 'baton-safety/1',
    groups: RULE_GROUPS.map(({ id, anchors, rules }) => ({
      id,
      anchors,
      rules: rules.map((rule) => [rule.id, rule.category, rule.effect, rule.weight, rule.pattern]),
    })),
    hidden: [HIDDEN_TEXT, HIDDEN_CHARACTERS, UNEXPLAINED_MIN],
    gates: GATES.map(({ rewrite, anchors }) => ({ rewrite, anchors })),
    joined: JOINED_ANCHORS,
    thresholds: THRESHOLDS,
    nearby: NEARBY,
    quotedShare: QUOTED_SHARE,
    normaliserVersion: NORMALISER_VERSION,
    unicodeVersion: process.versions['unicode'] ?? 'none',
  }
  return createHash('sha256').update(JSON.stringify(artefact)).digest('hex')
}
