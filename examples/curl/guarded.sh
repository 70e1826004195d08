#!/bin/sh
# Runs a command only if Remit allows it.
#
#   export REMIT_URL=http://localhost:8080 REMIT_KEY=rmk_…
#   sh examples/curl/guarded.sh deployer deploy.production env:prod ./deploy.sh
#
# Every answer other than a 200 with "decision":"allow" is a denial: exit code 77, nothing runs.
set -eu
[ $# -ge 4 ] || { echo "usage: guarded.sh AGENT ACTION RESOURCE COMMAND [ARG...]" >&2; exit 2; }
url=${REMIT_URL:-${REMIT:?set REMIT_URL}}
agent=$1 action=$2 resource=$3
shift 3

# Names with a quote, a backslash or a control character would change the JSON document.
case "$agent$action$resource" in
  *[\"\\[:cntrl:]]*) echo "guarded.sh: a name contains a character that JSON must escape" >&2; exit 2 ;;
esac

answer=$(curl -sS --fail-with-body --max-time 10 "$url/v1/authorize" \
  -H "Authorization: Bearer $REMIT_KEY" -H 'Content-Type: application/json' \
  -d "{\"agent_id\":\"$agent\",\"action\":\"$action\",\"resource\":\"$resource\"}") || {
  echo "denied: Remit did not answer with a decision. $answer" >&2
  exit 77
}
case "$answer" in
  '{"decision":"allow",'*) exec "$@" ;;
  *) echo "denied: $answer" >&2; exit 77 ;;
esac
