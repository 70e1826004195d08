import { amountText, failedText, resourceText, summaryOf } from '@remit/contract/fit'
import { useSyncExternalStore } from 'react'
import { spellOut } from '../format/literal.ts'
import { t } from '../texts.ts'
import { remit } from './client.ts'
import { keptText } from './storage.ts'

const kept = keptText('remit.console.notifications')

/** Returns true if this browser has notifications and the person has not refused them. */
const isOffered = (): boolean =>
  'Notification' in globalThis && Notification.permission !== 'denied'

/** True if the person has asked for notifications in this browser. */
export const wantsNotifications = (): boolean =>
  isOffered() && Notification.permission === 'granted' && kept.read() === 'on'

/** Turns notifications on, after the browser has asked the person, or off. */
export async function setNotifications(isOn: boolean): Promise<void> {
  const isAllowed = isOn && (await Notification.requestPermission()) === 'granted'
  kept.write(isAllowed ? 'on' : 'off')
}

/** The state of notifications; null where the browser has none. */
export const useNotifications = (): boolean | null =>
  useSyncExternalStore(kept.subscribe, () => (isOffered() ? wantsNotifications() : null))

/** Tells the person about a request, if they can vote on it. `open` shows its page. */
export async function notifyOf(id: string, open: () => void): Promise<void> {
  const request = await remit.getApproval({ params: { id } })
  if (request.can_vote !== true) return
  const { agent_id, action, requirements } = request
  const facts = [
    failedText(requirements),
    agent_id,
    action,
    resourceText(request),
    amountText(request),
  ]
  const notice = new Notification(spellOut(`${t.approvals.needed}: ${summaryOf(request)}`), {
    body: spellOut(facts.filter(Boolean).join(' · ')),
    // Several tabs make one notification.
    tag: id,
  })
  notice.addEventListener('click', () => {
    focus()
    notice.close()
    open()
  })
}
