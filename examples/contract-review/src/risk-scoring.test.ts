// Known licences get the flags and the level that a lawyer would expect.
import { describe, expect, it } from 'vitest'
import { extractClauses } from './clause-extraction.ts'
import { takeIn } from './intake.ts'
import { findIssues, listObligations } from './legal-analysis.ts'
import { findingsOf, levelOf, scoreIssues } from './risk-scoring.ts'
import { AGPL_3_NOTICE, APACHE_2, MIT, MPL_2 } from '../fixtures/samples.ts'

function review(text: string) {
  const { licence, sections } = takeIn(text, 'sample@1.0.0').state
  const clauses = extractClauses(sections)
  const issues = findIssues(clauses, licence.spdx)
  return findingsOf({ licence, clauses, obligations: listObligations(clauses), issues })
}

describe('analysing and scoring', () => {
  it.each([
    [MIT, 'low', ['keep-notices', 'no-patent-grant']],
    [APACHE_2, 'low', ['indemnity', 'patent-retaliation', 'keep-notices', 'state-changes']],
    [MPL_2, 'moderate', ['weak-copyleft']],
    [AGPL_3_NOTICE, 'extreme', ['network-copyleft', 'strong-copyleft', 'unlimited-liability']],
    [
      'All rights reserved by the company.',
      'extreme',
      ['no-grant', 'unknown-licence', 'unlimited-liability'],
    ],
  ])('%#: rates a known text as a lawyer would', (text, level, flags) => {
    const findings = review(text)
    expect(findings.level).toBe(level)
    expect(findings.flags).toEqual(expect.arrayContaining(flags))
    expect(findings.summary).toContain(`${level} risk, ${findings.riskScore} of 100`)
  })

  it('sees licences that cannot be obeyed together', () => {
    expect(findIssues([], 'Apache-2.0 AND GPL-2.0').map(({ flag }) => flag)).toContain(
      'conflict-apache-gpl2',
    )
    expect(findIssues([], 'Apache-2.0 AND LGPL-2.1').map(({ flag }) => flag)).not.toContain(
      'conflict-apache-gpl2',
    )
  })

  it('names the clauses that an issue rests on', () => {
    const clauses = extractClauses(takeIn(MIT, 'a@1').state.sections)
    const notices = findIssues(clauses, 'MIT').find(({ flag }) => flag === 'keep-notices')
    expect(
      clauses.filter(({ id }) => notices?.clauses.includes(id)).map(({ kind }) => kind),
    ).toEqual(['attribution'])
  })

  it('scores from 0 to 100 and rises with every issue', () => {
    const issue = { flag: 'x', likelihood: 5, consequence: 5, why: '', clauses: [] }
    const scores = [0, 1, 2, 50].map((count) =>
      scoreIssues(Array.from({ length: count }, () => issue)),
    )
    expect(scores).toEqual([0, 85, 98, 100])
    expect(scores.map(levelOf)).toEqual(['low', 'extreme', 'extreme', 'extreme'])
  })
})
