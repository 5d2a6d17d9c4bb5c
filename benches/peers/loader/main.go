// Loader loads catalogs as operator-registry does, and prints what that takes.
//
// Each argument is a directory with one catalog. All are read one after another and kept, as a process
// that answers from them would. One line is printed: seconds, the most memory in KiB by the kernel's
// own count, and the number of bundles, which shows that both sides read the same.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: loader DIRECTORY...")
	}
	began := time.Now()
	catalogs, err := load(os.Args[1:])
	took := time.Since(began)
	if err != nil {
		log.Fatal(err)
	}
	peak, err := peakKiB()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.6f %d %d\n", took.Seconds(), peak, bundles(catalogs))
}

func load(folders []string) ([]*declcfg.DeclarativeConfig, error) {
	var catalogs []*declcfg.DeclarativeConfig
	for _, folder := range folders {
		catalog, err := declcfg.LoadFS(context.Background(), os.DirFS(folder))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		catalogs = append(catalogs, catalog)
	}
	return catalogs, nil
}

func bundles(catalogs []*declcfg.DeclarativeConfig) int {
	count := 0
	for _, catalog := range catalogs {
		count += len(catalog.Bundles)
	}
	return count
}

// peakKiB is what Linux calls the high water mark of the resident set.
func peakKiB() (uint64, error) {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer status.Close()
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		if rest, found := strings.CutPrefix(lines.Text(), "VmHWM:"); found {
			return strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/self/status")
}
