import type { McpTool } from '@remit/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Modal } from '../../ui/modal.tsx'
import { CurlButton, Failure, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'

const pathOf = (id: string, verb: 'admit' | 'review' | 'withdraw'): string =>
  `/v1/mcp/tools/${encodeURIComponent(id)}/${verb}`

/** Admits exactly the definition that the page shows. */
export function AdmitTool({ tool }: { tool: McpTool }) {
  const { id, digest, state, findings, declared_mapping: declared } = tool
  const [isOpen, setOpen] = useState(false)
  const [isPinned, setPinned] = useState(tool.mapping === 'declared')
  const can = useCan()
  const client = useQueryClient()
  // The page may show another definition meanwhile, which declares none.
  const mapping = isPinned && declared !== null ? 'declared' : 'default'
  const body = { digest, mapping } as const
  const admit = useMutation({
    mutationFn: () => remit.admitMcpTool({ params: { id }, body }),
    onSuccess: () => {
      announce(t.mcpTools.admitted)
      setOpen(false)
    },
    // After a refusal, too: the definition may have changed meanwhile.
    onSettled: () => client.invalidateQueries({ queryKey: ['mcp-tools'] }),
  })
  const isAdmitted = state === 'admitted'
  if ((isAdmitted && declared === null) || !can('POST /v1/mcp/tools/{id}/admit')) return null
  return (
    <>
      <Button tone={isAdmitted ? undefined : 'primary'} onClick={() => setOpen(true)}>
        {isAdmitted ? t.mcpTools.changeMapping : t.mcpTools.admit}
      </Button>
      <Modal
        isOpen={isOpen}
        title={t.mcpTools.admitTitle}
        onClose={() => setOpen(false)}
        footer={
          <>
            <CurlButton request={() => ({ method: 'POST', path: pathOf(id, 'admit'), body })} />
            <Button onClick={() => setOpen(false)}>{t.common.cancel}</Button>
            <Button tone="primary" disabled={admit.isPending} onClick={() => admit.mutate()}>
              {t.mcpTools.admit}
            </Button>
          </>
        }
      >
        <p>{t.mcpTools.admitText}</p>
        {findings.length > 0 && <Note tone="deny">{t.mcpTools.admitFlagged}</Note>}
        {declared !== null && (
          <Checkbox
            label={t.mcpTools.pinMapping}
            hint={t.mcpTools.pinMappingText}
            isOn={isPinned}
            onToggle={setPinned}
          />
        )}
        {admit.error && <Failure error={admit.error} />}
      </Modal>
    </>
  )
}

/** Records that the findings are harmless; it admits nothing. */
export function ReviewTool({ tool: { id, digest, findings, review } }: { tool: McpTool }) {
  const can = useCan()
  const client = useQueryClient()
  if (findings.length === 0 || review || !can('POST /v1/mcp/tools/{id}/review')) return null
  return (
    <ConfirmDelete
      tone={undefined}
      title={t.mcpTools.reviewTitle}
      text={t.mcpTools.reviewText}
      verb={t.mcpTools.review}
      done={t.mcpTools.reviewed}
      request={() => ({ method: 'POST', path: pathOf(id, 'review'), body: { digest } })}
      onDelete={() => remit.reviewMcpTool({ params: { id }, body: { digest } })}
      onDeleted={() => client.invalidateQueries({ queryKey: ['mcp-tools'] })}
    />
  )
}

export function WithdrawTool({ tool: { id, state } }: { tool: McpTool }) {
  const can = useCan()
  const client = useQueryClient()
  if (state === 'withdrawn' || !can('POST /v1/mcp/tools/{id}/withdraw')) return null
  return (
    <ConfirmDelete
      title={t.mcpTools.withdrawTitle}
      text={t.mcpTools.withdrawText}
      verb={t.mcpTools.withdraw}
      done={t.mcpTools.withdrawn}
      request={() => ({ method: 'POST', path: pathOf(id, 'withdraw') })}
      onDelete={() => remit.withdrawMcpTool({ params: { id } })}
      onDeleted={() => client.invalidateQueries({ queryKey: ['mcp-tools'] })}
    />
  )
}
