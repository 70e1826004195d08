import type { WebhookFormat } from '@remit/contract'
import type { Notice } from './notice.ts'

const OPEN = 'Open in Remit'

/** Characters that Slack reads as links, mentions and entities. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Texts of others are `plain_text`, which has neither links nor mentions. */
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** Body of an incoming webhook of Slack, in Block Kit. */
function slackBody({ title, fields, link }: Notice): unknown {
  return {
    text: slackText(title),
    blocks: [
      { type: 'header', text: plain(title) },
      ...(fields.length > 0
        ? [{ type: 'section', fields: fields.map(([name, value]) => plain(`${name}\n${value}`)) }]
        : []),
      ...(link === null
        ? []
        : [{ type: 'section', text: { type: 'mrkdwn', text: `<${slackText(link)}|${OPEN}>` } }]),
    ],
  }
}

/** Text runs, unlike text blocks, have no Markdown. */
const run = (text: string, more: object = {}) => ({ type: 'TextRun', text, ...more })

/** Body of a workflow of Microsoft Teams that posts a card, in Adaptive Cards 1.4. */
function teamsBody({ title, fields, link }: Notice): unknown {
  const line = (inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line([run(title, { size: 'Medium', weight: 'Bolder' })]),
      ...fields.map(([name, value]) => line([run(`${name}: `, { isSubtle: true }), run(value)])),
    ],
    actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: OPEN, url: link }],
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] }
}

const BODIES = { slack: slackBody, teams: teamsBody } as const

/** The body of a message in the format of a chat. */
export const chatBody = (format: keyof typeof BODIES, notice: Notice): string =>
  JSON.stringify(BODIES[format](notice))

export const isChat = (format: WebhookFormat): format is keyof typeof BODIES =>
  Object.hasOwn(BODIES, format)
