// People are found and leave the text; companies, groups and boilerplate stay.
import { describe, expect, it } from 'vitest'
import { normaliseText } from './licence-text.ts'
import { dataSubjectId, separatePersonalData } from './personal-data.ts'
import { AGPL_3_NOTICE, BSD_3, ISC, MIT } from '../fixtures/samples.ts'

const separate = (text: string, name = 'package') => separatePersonalData(normaliseText(text), name)

describe('separating personal data', () => {
  it('moves names and contacts out of the text, wherever they stand', () => {
    const { text, personalData } = separate(MIT)
    expect(text).toContain('[holder-1] <[contact-1]> ([contact-1])')
    expect(text).toContain('Copyright (c) 2016, [holder-2], Nobody Ltd. and other contributors')
    expect(text).toContain('Ask [holder-1], or @adaexample.')
    expect(text).not.toMatch(/ada\s+example|grace|@example\.org/i)
    expect(personalData?.payload).toEqual({
      '/currentState/holders/0/names': {
        subject: dataSubjectId('Ada Example'),
        value: ['Ada Example'],
      },
      '/currentState/holders/0/contacts': {
        subject: dataSubjectId('Ada Example'),
        value: ['ada@example.org', 'https://ada.example.org'],
      },
      '/currentState/holders/1/names': {
        subject: dataSubjectId('Grace G. Sample'),
        value: ['Grace G. Sample'],
      },
    })
  })

  it('leaves companies, groups and projects in the text', () => {
    for (const text of [
      BSD_3,
      AGPL_3_NOTICE,
      'Copyright (c) 2021 package',
      'Copyright Example, Inc. and others',
    ]) {
      expect(separate(text)).toEqual({ text: normaliseText(text), holders: [] })
    }
    expect(separate('Copyright (c) 2021 Package', 'other').holders).toHaveLength(1)
  })

  it.each([
    ['Copyright © 2020 Ada Example', ['Ada Example']],
    ['(c) 2015-present by Ada Example, all rights reserved', ['Ada Example']],
    ['Copyright (c) Ada Example &lt;ada@example.org&gt;', ['Ada Example', 'ada@example.org']],
    ['Copyright (c) 2011:\nÅsa Öhm (asa@example.org)', ['Åsa Öhm', 'asa@example.org']],
    ['Based on a work, copyright Ada Example,', ['Ada Example']],
    ['Copyright (c) 2015 Ada "Countess" Example', ['Ada Countess Example']],
    ['By: ada, Grace Sample <grace@example.org>', ['ada', 'Grace Sample', 'grace@example.org']],
    ['Advice by Ada Example <ada@example.org>.', ['Ada Example', 'ada@example.org']],
    [
      'Copyright 2010 Ada Example; Modified work Copyright 2014 Contributors (x@example.com)',
      ['Ada Example', 'x@example.com'],
    ],
    ['Copyright (c) 2018 Ada Example (github.com/ada)', ['Ada Example', 'github.com/ada']],
    ['Write to help@example.org for help.', ['help@example.org']],
  ])('finds the people in %j', (line, expected) => {
    const { personalData, text } = separate(line)
    const values = Object.values(personalData?.payload ?? {}).flatMap(
      (entry) => (entry as { value: string[] }).value,
    )
    expect(values).toEqual(expected)
    for (const value of values) expect(text).not.toContain(value)
  })

  it.each([
    'Copyright (c) <year> <copyright holders>',
    'Copyright [yyyy] [name of copyright owner]',
    'Copyright notice: keep it.',
    'the above copyright notice and this permission notice',
    'THE COPYRIGHT HOLDERS AND CONTRIBUTORS',
    '2. Grant of Copyright License. Subject to the terms',
  ])('finds nobody in %j', (line) => {
    expect(separate(line).holders).toEqual([])
  })

  it('gives a person the same opaque id in every text', () => {
    const [first] = separate(ISC).holders
    const [second] = separate('Author: isaac n.  vented').holders
    expect(first?.subject).toBe(second?.subject)
    expect(first?.subject).toMatch(/^ds-[0-9a-f]{32}$/)
  })

  it('takes spellings of one name for one person', () => {
    const { holders, text } = separate(
      '(c) 2015 Ada (Countess) Example\n(c) 2016 ADA COUNTESS EXAMPLE\n(c) 2017 A\u0301da\n(c) 2018 Áda',
    )
    expect(holders).toHaveLength(2)
    expect(text).toBe(
      '(c) 2015 [holder-1]\n(c) 2016 [holder-1]\n(c) 2017 [holder-2]\n(c) 2018 [holder-2]',
    )
  })

  it('refuses a text with more people than it can keep apart', () => {
    const crowd = Array.from(
      { length: 1_001 },
      (_, index) => `Write to user${index}@example.org`,
    ).join('\n')
    expect(() => separate(crowd)).toThrow(
      expect.objectContaining({ code: 'BATON_REVIEW_HOLDERS_TOO_MANY' }),
    )
  })
})
