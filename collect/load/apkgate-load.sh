# apkgate's loads beside a workload, run by the device's own shell (mksh):
#   sh apkgate-load.sh SECONDS [cpu CORES PERCENT] [memory MIB] [storage FILES] [downloads NUMBER URL]
# It ends after so many seconds, or once the file apkgate-load-on is gone, and removes what it wrote.
# What it says is one line for each part: ready, failed: and why, or ended: and why.
d=${0%.sh}
end=$1
shift

# now sets n to the time since boot in hundredths of a second.
now() {
	read -r u x </proc/uptime
	n=${u%.*}${u#*.}
}
now
began=$n
lasts() { [ -e "$d-on" ] && now && ((n - began < end * 100)); }

# cpu keeps one CPU busy for a share of the time, in per cent.
cpu() {
	b=0
	while lasts; do
		if ((b * 100 < $1 * (n - began))); then
			from=$n
			while now; ((n - from < 5)); do
				i=0
				while ((i < 500)); do ((i += 1)); done
			done
			((b += n - from))
		else
			sleep 0.05
		fi
	done
}

# memory holds random bytes, which neither zram nor the kernel makes smaller: each dd has read a
# block and waits for a pipe that nobody reads. /dev/urandom gives less than 32 MiB at a time.
memory() {
	{
		c=$1
		while ((c > 0)); do
			dd if=/dev/urandom bs=32505856 count=1 2>/dev/null &
			((c -= 32))
		done
		wait
		lasts && echo "ended: memory: its processes were killed" >&3
	} 3>&1 | while lasts; do sleep 0.5; done
}

# store writes blocks of 4 MiB to a file of 64 MiB, over and over, each to the storage itself.
store() {
	f=$d-w$1
	how=notrunc,fsync
	dd if=/dev/zero of="$f" bs=4096 count=1 conv=$how 2>/dev/null || how=notrunc
	at=0
	while lasts; do
		if ! m=$(dd if=/dev/zero of="$f" bs=4194304 count=1 seek=$at conv=$how 2>&1); then
			rm -f "$f" # there may be no room for what is said
			echo "failed: storage: $(echo "$m" | { read -r x; echo "$x"; })"
			return
		fi
		[ $how = notrunc ] && sync
		[ "$said" ] || echo "ready: storage"
		said=1
		((at = (at + 1) % 16))
		sleep 0.2
	done
}

# fetch reads files of Android's own, of which there are more than the page cache holds.
fetch() {
	while lasts; do
		any=
		for f in /system/framework/* /system/app/*/* /system/priv-app/*/* /product/*app/*/* /system_ext/*app/*/* /vendor/lib64/* "$d"-w*; do
			[ -f "$f" ] || continue
			lasts || return
			cat "$f" >/dev/null 2>&1
			any=1
		done
		[ "$any" ] || sleep 0.5
		sleep 0.05
	done
}

# get downloads up to 64 MiB of an address at a time, and 256 MiB in all.
get() {
	case $1 in http://*) plain=1 ;; *) plain= ;; esac
	rest=${1#*://}
	host=${rest%%/*}
	path=${rest#"$host"}
	port=${host##*:}
	[ "$port" = "$host" ] && port=80
	left=268435456 none=0
	while lasts; do
		if ((left <= 0)); then
			echo "ended: downloads: after 256 MiB each"
			return
		fi
		if [ "$plain" ] && command -v nc >/dev/null; then
			b=$(printf 'GET %s HTTP/1.0\r\nHost: %s\r\n\r\n' "${path:-/}" "$host" | timeout 60 nc "${host%:*}" "$port" 2>/dev/null | head -c 67108864 | wc -c)
		else
			b=$(timeout 60 curl -s "$1" 2>/dev/null | head -c 67108864 | wc -c)
		fi
		((left -= b))
		if ((b >= 65536)); then
			[ "$said" ] || echo "ready: downloads"
			said=1 none=0
		elif ((none += 1, none == 3)); then
			if [ "$said" ]; then m=ended; else m=failed; fi
			echo "$m: downloads: $((b)) bytes came from $host, where 65536 are the least"
			return
		else
			sleep 0.5
		fi
	done
}

echo 200 2>/dev/null >/proc/self/oom_score_adj # killed before the app in front, after what is not seen
while [ $# -gt 0 ]; do
	part=$1 k=0
	shift
	case $part in
	cpu)
		while ((k < $1)); do
			cpu "$2" &
			((k += 1))
		done
		echo "ready: cpu"
		shift 2
		;;
	memory)
		memory "$1" &
		shift
		;;
	storage)
		while ((k < $1)); do
			((k += 1))
			if ((k == 1)); then store $k & else store $k >/dev/null & fi
			fetch &
		done
		shift
		;;
	downloads)
		while ((k < $1)); do
			((k += 1))
			if ((k == 1)); then get "$2" & else get "$2" >/dev/null & fi
		done
		shift 2
		;;
	esac
done
while lasts; do sleep 0.5; done
sleep 0.5
rm -f "$d"-w*
