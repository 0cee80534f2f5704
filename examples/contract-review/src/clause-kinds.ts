// The kinds of clause a licence can have, the wording that gives each away, and the duty it brings.

export type ClauseKind = keyof typeof CLAUSE_KINDS

export interface ClauseRule {
  readonly wording: RegExp
  /** What it means for whoever uses the software. */
  readonly duty: string
}

/**
 * Wording is matched against text whose lines are joined, so a blank is always one blank. Every gap in
 * it is bounded, so that no text takes long.
 */
export const CLAUSE_KINDS = {
  grant: {
    wording:
      /permission (?:is hereby granted|to use, copy)|redistribution and use in source and binary forms[^.]{0,400}permitted|hereby grants? (?:to )?(?:you|licensee|each)[^.]{0,400}(?:copyright|licen[sc]e)|grants? you a (?:perpetual|world-?wide|non-?exclusive|royalty-free)|contributor licenses you to do everything|anyone is free to copy|released into the public domain|licensed under the [^.]{0,60}licen[sc]e/i,
    duty: 'May use, copy, modify and distribute within the conditions.',
  },
  condition: {
    wording:
      /provided that|subject to the following conditions?|conditions (?:are|is) met|on the condition that|you must (?:not|agree|cause|give|retain)/i,
    duty: 'The grant holds only while the conditions are met.',
  },
  attribution: {
    wording:
      /above copyright notice|(?:retain|reproduce|include|preserve)[^.]{0,80}(?:copyright|attribution|notices?)|gets? the text of this license|must give any other recipients[^.]{0,400}copy of this license|include an attribution|notices? of copyright[^.]{0,400}retained/i,
    duty: 'Keep copyright notice and licence text with every copy.',
  },
  changesStated: {
    wording:
      /prominent notices stating that you changed|altered source versions must be plainly marked|brief summary of the changes|state(?:ment)? (?:of )?(?:significant )?changes made/i,
    duty: 'State which files were changed.',
  },
  warrantyDisclaimer: {
    wording:
      /(?:provided|comes|available)[^.]{0,120}["'`“”]*as[ -]is\b|without warrant(?:y|ies) of any kind|without (?:any )?warranties or conditions|disclaims? (?:all|any)[^.]{0,40}(?:warrant|representation)|without any warranty/i,
    duty: 'Nobody answers for defects: test before relying on it.',
  },
  liabilityLimit: {
    wording:
      /in no event (?:and under no legal theory )?(?:shall|will)|(?:shall|will) not be (?:held )?liable|be liable (?:to you )?for (?:any )?(?:damages|claim)|limitation of liability|will be liable to anyone/i,
    duty: 'Damages cannot be recovered from the authors.',
  },
  patentGrant: {
    wording:
      /patent licen[sc]e|(?:infringe|under|practice)[^.]{0,60}patent claims|grant[^.]{0,80}patent/i,
    duty: "May use the contributors' patents that the software reads on.",
  },
  patentRetaliation: {
    wording:
      /patent (?:litigation|infringement (?:claim|litigation))[^.]{0,400}terminat|terminat[^.]{0,400}patent (?:litigation|infringement)|(?:institute|initiates?)[^.]{0,400}patent (?:litigation|infringement)/i,
    duty: 'Suing over patents in the software ends the patent licence.',
  },
  strongCopyleft: {
    wording:
      /gnu (?:affero )?general public license\W+version \d,? (?:\d+ )?(?:june|november)|terms of the gnu (?:affero )?general public license|must be licensed as a whole[^.]{0,400}under this license|work based on the program[^.]{0,400}(?:under the terms of this license|as a whole)/i,
    duty: 'Whatever is built on it must be given away under the same licence, with source.',
  },
  weakCopyleft: {
    wording:
      /mozilla public license|gnu lesser general public license\W+version [\d.]+,? (?:\d+ )?(?:june|february)|terms of the gnu lesser general|covered software in executable form[^.]{0,400}source code form|(?:modifications|source code form)[^.]{0,400}must be (?:made available )?under the terms of this license|sharealike/i,
    duty: 'Changed files of the software itself stay under this licence and their source must be offered.',
  },
  networkCopyleft: {
    wording:
      /terms of the gnu affero general public license|interacting with it remotely through a computer network/i,
    duty: 'Users over a network must be offered the source as well.',
  },
  trademark: {
    wording: /trademarks?|trade names?|may not be called|product names of the licensor/i,
    duty: 'Names and marks may not be used as if they came with the licence.',
  },
  noEndorsement: {
    wording:
      /endorse or promote|(?:shall|may) not be used in advertising|used in advertising or otherwise to promote/i,
    duty: "Do not advertise with the authors' names.",
  },
  advertising: {
    wording: /all advertising materials mentioning/i,
    duty: 'Advertisements that mention the software must name its authors.',
  },
  termination: {
    wording:
      /(?:license|rights|agreement)[^.]{0,80}(?:(?:will|shall) (?:automatically )?terminate(?! as of the date such)|terminates? automatically|ends immediately)|terminat(?:e|es|ed|ion)[^.]{0,60}(?:breach|fail to comply)/i,
    duty: 'A breach ends the licence: check compliance before each release.',
  },
  cure: {
    wording: /within (?:30|thirty|60|sixty) days|reinstated|can keep your license by/i,
    duty: 'A breach can be healed within the stated time.',
  },
  indemnity: {
    wording: /\bindemnif(?:y|ies|ied|ication)\b|hold (?:each contributor |the licensor )?harmless/i,
    duty: "Pay for claims against others, for example when offering one's own warranty.",
  },
  nonCommercial: {
    wording:
      /non-?commercial (?:use|purposes?) only|only for non-?commercial|not (?:be )?used? for commercial|may not[^.]{0,60}commercial(?:ly| purposes)/i,
    duty: 'No commercial use.',
  },
  noDerivatives: {
    wording:
      /(?:may|shall) not (?:modify|alter|create derivative)|no derivatives|without (?:any )?modification only/i,
    duty: 'No changed versions.',
  },
  fieldOfUse: {
    wording:
      /shall be used for good, not evil|may not be used (?:for|in)[^.]{0,60}(?:military|weapons|nuclear|surveillance)/i,
    duty: 'Some purposes are forbidden.',
  },
  governingLaw: {
    wording:
      /governed by (?:and construed[^.]{0,60})?(?:the )?laws? of|exclusive jurisdiction|courts of (?:a jurisdiction|the)/i,
    duty: 'Disputes are heard under the stated law.',
  },
  exportControl: {
    wording: /export (?:control|administration|laws|restrictions)|embargoed/i,
    duty: 'Export rules of the stated country apply.',
  },
  unilateralChange: {
    wording:
      /reserves? the right to (?:change|modify|amend|revise)|may publish (?:revised|new)[^.]{0,400}versions of/i,
    duty: 'The terms may change: pin the version that was reviewed.',
  },
} as const satisfies Readonly<Record<string, ClauseRule>>
